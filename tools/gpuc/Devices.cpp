// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// gpuc devices: what can run plans here, and what can be compiled for.
#include "Commands.h"
#include "gpuc/Runtime/DeviceRegistry.h"
#include "gpuc/Target/Target.h"
#include <cstdio>

namespace gpuc::cli {

static int listAll() {
  for (const DeviceInfo &device : listDevices())
    std::printf("%-8s %s%s\n", device.spec.c_str(),
                device.usable ? "" : "not usable: ", device.description.c_str());
  std::printf("\ntargets of --target:\n");
  for (const Target &target : allTargets())
    std::printf("  %-10.*s %-8.*s %3d SMs, %.0f GB/s, %.0f GiB\n", int(target.product.size()),
                target.product.data(), int(target.arch.size()), target.arch.data(), target.numSMs,
                target.memoryGBps, double(target.memoryBytes) / double(1ull << 30));
  return 0;
}

void addDevices(CLI::App &app, Action &action) {
  CLI::App *sub = app.add_subcommand("devices", "list devices and compilation targets");
  sub->footer("Example:\n  gpuc devices");
  sub->callback([&action] { action = listAll; });
}

} // namespace gpuc::cli
