// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layout of the cache folder: include-<hash>/ holds the headers of one set, <hash>.so a library, <hash>.unit
// the name of the library that holds a unit. All appear by rename, so several processes may share the folder.
#include "Compile.h"
#include "Process.h"
#include "gpuc/Support/EmbeddedFile.h"
#include "gpuc/Support/File.h"
#include "gpuc/Support/Hash.h"
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <set>
#include <sys/stat.h>
#include <unistd.h>

namespace gpuc {
extern const EmbeddedFile simSources[];
extern const unsigned simSourcesCount;
} // namespace gpuc

namespace gpuc::sim {

static constexpr size_t kUnitsPerLibrary = 40;
/// Part of every cache key: changes when the way units become libraries does.
static const char kScheme[] = "unit namespaces";

Result<Compiler> findCompiler(const std::string &name) {
  std::vector<std::string> names =
      name.empty() ? std::vector<std::string>{"g++", "clang++", "c++"} : std::vector<std::string>{name};
  for (const std::string &candidate : names) {
    ProcessResult result = runProcess({candidate, "--version"});
    if (result.exitCode != 0)
      continue;
    Compiler compiler;
    compiler.path = candidate;
    compiler.version = result.output.substr(0, result.output.find('\n'));
    compiler.isClang = compiler.version.find("clang") != std::string::npos;
    return compiler;
  }
  if (!name.empty())
    return notFound("the simulator cannot run the C++ compiler '" + name + "'");
  return notFound(
      "the simulator needs a C++ compiler and found none of g++, clang++, c++; install one, for instance "
      "with: apt-get install g++");
}

static std::vector<std::string> compileFlags(const CompileOptions &options) {
  std::string number;
  for (char c : options.arch)
    if (c >= '0' && c <= '9')
      number += c;
  std::vector<std::string> flags = {"-std=c++17",
                                    "-O1",
                                    "-march=x86-64-v3",
                                    "-fPIC",
                                    "-g1",
                                    "-fno-exceptions",
                                    "-fno-rtti",
                                    "-fno-stack-protector",
                                    "-fno-strict-aliasing",
                                    "-ffp-contract=off",
                                    "-fno-math-errno",
                                    "-fwrapv",
                                    "-fvisibility=hidden",
                                    "-fcf-protection=none",
                                    "-fno-asynchronous-unwind-tables",
                                    "-fno-optimize-sibling-calls",
                                    "-DGPUC_SIM_ARCH=" + (number.empty() ? "80" : number) + "0"};
  flags.push_back(options.compiler.isClang ? "-fsanitize=alignment,array-bounds"
                                           : "-fsanitize=alignment,bounds-strict");
  if (options.compiler.isClang)
    flags.insert(flags.end(), {"-Wno-everything", "-Wframe-larger-than=40000", "-Werror=frame-larger-than"});
  else
    flags.insert(flags.end(), {"-fno-trapping-math", "-Werror=frame-larger-than=40000", "--param",
                               "sra-max-scalarization-size-Ospeed=1"});
  if (options.full) {
    flags.insert(flags.end(), {"-DGPUC_SIM_FULL", "-fsanitize=thread"});
    if (options.compiler.isClang)
      flags.insert(flags.end(), {"-mllvm", "-tsan-instrument-func-entry-exit=0"});
    else
      flags.insert(flags.end(), {"--param", "tsan-instrument-func-entry-exit=0"});
  }
  return flags;
}

/// The headers that kernels see: the family's, with the simulator's own in place of arch/.
static std::map<std::string, std::string> headerSet(const std::vector<SourceFile> &headers) {
  std::map<std::string, std::string> files;
  for (const SourceFile &header : headers) {
    if (header.path.rfind("arch/", 0) == 0)
      files[header.path] = "#error \"" + header.path + " is not simulated\"\n";
    else
      files[header.path] = header.text;
  }
  for (unsigned i = 0; i < simSourcesCount; ++i)
    files[simSources[i].path] = std::string(simSources[i].data, simSources[i].size);
  return files;
}

static bool isSafePath(const std::string &path) {
  return !path.empty() && path[0] != '/' && path.find("..") == std::string::npos;
}

static Status writeHeaders(const std::string &dir, const std::map<std::string, std::string> &files) {
  if (fileExists(joinPath(dir, "complete")))
    return Status();
  for (auto &[path, text] : files) {
    if (!isSafePath(path))
      return invalidArgument("header path '" + path + "' leaves its folder");
    std::string full = joinPath(dir, path);
    GPUC_RETURN_IF_ERROR(createDirectories(full.substr(0, full.rfind('/'))));
    GPUC_RETURN_IF_ERROR(writeFileAtomically(full, text));
  }
  return writeFileAtomically(joinPath(dir, "complete"), "");
}

/// Names given to GPUC_EXPORT.
static std::vector<std::string> exportedNames(const std::string &text) {
  static const char kMacro[] = "GPUC_EXPORT(";
  std::vector<std::string> names;
  for (size_t at = text.find(kMacro); at != std::string::npos; at = text.find(kMacro, at)) {
    at += sizeof kMacro - 1;
    size_t end = text.find(')', at);
    if (end == std::string::npos)
      break;
    std::string name = text.substr(at, end - at);
    name.erase(std::remove(name.begin(), name.end(), ' '), name.end());
    names.push_back(name);
  }
  return names;
}

static std::vector<std::string> includeLines(const std::string &text) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    if (line.rfind("#include", 0) == 0)
      lines.push_back(line);
    begin = end + 1;
  }
  return lines;
}

static bool opensOwnNamespace(const std::string &text) {
  for (size_t at = text.find("namespace gpuc"); at != std::string::npos;
       at = text.find("namespace gpuc", at + 1)) {
    bool isUsing = at >= 6 && text.compare(at - 6, 6, "using ") == 0;
    if (!isUsing)
      return true;
  }
  return false;
}

static std::string lineMarker(const UnitSource &unit) {
  std::string name = unit.name;
  std::replace_if(name.begin(), name.end(), [](char c) { return c == '"' || c == '\\' || c == '\n'; }, '_');
  return "#line 1 \"" + name + "\"\n";
}

namespace {
/// One library to build.
struct Batch {
  std::string key;
  std::vector<const UnitSource *> units;
  std::vector<std::string> unitKeys;
};

class Builder {
public:
  Builder(const CompileOptions &options, std::string includeDir)
      : options(options), includeDir(std::move(includeDir)), flags(compileFlags(options)) {}
  Status build(const Batch &batch);

private:
  Status compileFile(const std::string &source, const std::string &object);
  std::string readable(std::string messages) const;

  const CompileOptions &options;
  std::string includeDir;
  std::vector<std::string> flags;
};
} // namespace

/// Compiler output with file names relative to the headers' folder.
std::string Builder::readable(std::string messages) const {
  const std::string prefix = includeDir + "/";
  for (size_t at = messages.find(prefix); at != std::string::npos; at = messages.find(prefix, at))
    messages.erase(at, prefix.size());
  constexpr size_t kLimit = 8000;
  if (messages.size() > kLimit)
    messages =
        messages.substr(0, kLimit) + "\n… (" + std::to_string(messages.size() - kLimit) + " more bytes)";
  return messages;
}

Status Builder::compileFile(const std::string &source, const std::string &object) {
  std::vector<std::string> command = {options.compiler.path};
  command.insert(command.end(), flags.begin(), flags.end());
  command.insert(command.end(), {"-I" + includeDir, "-include", joinPath(includeDir, "Shim.h"), "-x", "c++",
                                 "-c", source, "-o", object});
  ProcessResult result = runProcess(command);
  if (result.exitCode != 0)
    return invalidArgument("the simulator could not compile a kernel with '" + options.compiler.path +
                           "':\n" + readable(result.output));
  return Status();
}

Status Builder::build(const Batch &batch) {
  static std::atomic<unsigned> serial{0};
  const std::string stem = joinPath(options.cacheDir, batch.key + "." + std::to_string(getpid()) + "." +
                                                          std::to_string(serial++) + ".tmp");
  std::vector<std::string> temporary, objects;
  std::string shared = "#include \"Handlers.h\"\n", bodies;
  std::vector<std::string> texts;
  std::set<std::string> seen;
  for (size_t i = 0; i < batch.units.size(); ++i) {
    const UnitSource &unit = *batch.units[i];
    if (opensOwnNamespace(unit.text)) {
      // A file of its own, under a namespace of its own: the linker takes functions of one name for one
      // function.
      texts.push_back("#define gpuc gpucUnit" + std::to_string(i) + "\n" + lineMarker(unit) + unit.text);
      continue;
    }
    for (const std::string &line : includeLines(unit.text))
      if (seen.insert(line).second)
        shared += line + "\n";
    bodies += "namespace gpucUnit" + std::to_string(i) + " {\n" + lineMarker(unit) + unit.text + "\n}\n";
  }
  texts.push_back(shared + bodies);
  Status status;
  for (size_t i = 0; i < texts.size() && status.ok(); ++i) {
    std::string source = stem + std::to_string(i) + ".cpp", object = stem + std::to_string(i) + ".o";
    temporary.insert(temporary.end(), {source, object});
    objects.push_back(object);
    status = writeFileAtomically(source, texts[i]);
    if (status.ok())
      status = compileFile(source, object);
  }
  if (status.ok()) {
    std::string library = stem + ".so";
    temporary.push_back(library);
    std::vector<std::string> command = {options.compiler.path, "-shared", "-Wl,-z,now", "-o", library};
    command.insert(command.end(), objects.begin(), objects.end());
    command.push_back("-lm");
    ProcessResult result = runProcess(command);
    if (result.exitCode != 0)
      status = internalError("the simulator could not link a kernel library:\n" + readable(result.output));
    else if (rename(library.c_str(), joinPath(options.cacheDir, batch.key + ".so").c_str()) != 0)
      status = ioError("cannot write to '" + options.cacheDir + "': " + strerror(errno));
  }
  for (const std::string &unitKey : batch.unitKeys)
    if (status.ok())
      status = writeFileAtomically(joinPath(options.cacheDir, unitKey + ".unit"), batch.key);
  for (const std::string &path : temporary)
    unlink(path.c_str());
  return status;
}

/// Creates the folder for this user alone and refuses one that others may write: its libraries get loaded.
static Status prepareCacheDir(const std::string &dir) {
  size_t slash = dir.rfind('/');
  if (slash != std::string::npos && slash > 0)
    GPUC_RETURN_IF_ERROR(createDirectories(dir.substr(0, slash)));
  if (mkdir(dir.c_str(), 0700) != 0 && errno != EEXIST)
    return ioError("cannot create '" + dir + "': " + strerror(errno));
  struct stat info;
  if (stat(dir.c_str(), &info) != 0 || !S_ISDIR(info.st_mode))
    return ioError("'" + dir + "' is not a folder");
  if (info.st_uid != geteuid() || (info.st_mode & 022))
    return ioError("'" + dir +
                   "' belongs to or may be written by another user, so kernels cannot be cached in it");
  return Status();
}

Result<std::vector<CompiledLibrary>> compileUnits(const CompileOptions &options,
                                                  const std::vector<UnitSource> &units,
                                                  const std::vector<SourceFile> &headers) {
  GPUC_RETURN_IF_ERROR(prepareCacheDir(options.cacheDir));
  const auto files = headerSet(headers);
  Sha256 headerHash;
  for (auto &[path, text] : files) {
    headerHash.updateSized(path);
    headerHash.updateSized(text);
  }
  const std::string headerKey = toHex(headerHash.finish()).substr(0, 32);
  const std::string includeDir = joinPath(options.cacheDir, "include-" + headerKey);

  std::map<std::string, CompiledLibrary> libraries; // by key
  std::vector<std::string> keys;
  std::vector<size_t> missing;
  for (size_t i = 0; i < units.size(); ++i) {
    Sha256 hash;
    hash.updateSized(kScheme);
    hash.updateSized(headerKey);
    hash.updateSized(options.compiler.version);
    for (const std::string &flag : compileFlags(options))
      hash.updateSized(flag);
    hash.updateSized(units[i].name);
    hash.updateSized(units[i].text);
    keys.push_back(toHex(hash.finish()).substr(0, 32));
    Result<std::string> library = readFile(joinPath(options.cacheDir, keys[i] + ".unit"));
    std::string path = library ? joinPath(options.cacheDir, *library + ".so") : "";
    if (!library || !fileExists(path)) {
      missing.push_back(i);
      continue;
    }
    CompiledLibrary &entry = libraries[*library];
    entry.path = path;
    for (const std::string &name : exportedNames(units[i].text))
      entry.entries.push_back(name);
  }
  if (!missing.empty())
    GPUC_RETURN_IF_ERROR(writeHeaders(includeDir, files));

  const unsigned jobs = std::max(1u, options.jobs);
  const size_t perLibrary = std::clamp<size_t>((missing.size() + jobs - 1) / jobs, 1, kUnitsPerLibrary);
  std::vector<Batch> batches;
  for (size_t begin = 0; begin < missing.size(); begin += perLibrary) {
    Batch batch;
    Sha256 hash;
    for (size_t i = begin; i < std::min(begin + perLibrary, missing.size()); ++i) {
      batch.units.push_back(&units[missing[i]]);
      batch.unitKeys.push_back(keys[missing[i]]);
      hash.updateSized(keys[missing[i]]);
    }
    batch.key = toHex(hash.finish()).substr(0, 32);
    CompiledLibrary &entry = libraries[batch.key];
    entry.path = joinPath(options.cacheDir, batch.key + ".so");
    for (const UnitSource *unit : batch.units)
      for (const std::string &name : exportedNames(unit->text))
        entry.entries.push_back(name);
    batches.push_back(std::move(batch));
  }
  Builder builder(options, includeDir);
  std::vector<Status> results(batches.size());
  runParallel(jobs, batches.size(), [&](size_t i) { results[i] = builder.build(batches[i]); });
  for (const Status &status : results)
    GPUC_RETURN_IF_ERROR(status);
  std::vector<CompiledLibrary> list;
  for (auto &[key, library] : libraries)
    list.push_back(std::move(library));
  return list;
}

std::string describeSource(const std::string &library, uintptr_t offset) {
  char address[32];
  snprintf(address, sizeof address, "0x%zx", size_t(offset));
  ProcessResult result = runProcess({"addr2line", "-i", "-e", library, address});
  if (result.exitCode != 0)
    return "";
  std::string text, last;
  for (size_t begin = 0; begin < result.output.size();) {
    size_t end = std::min(result.output.find('\n', begin), result.output.size());
    std::string line = result.output.substr(begin, end - begin);
    begin = end + 1;
    line = line.substr(0, line.find(" ("));
    size_t slash = line.rfind('/');
    if (slash != std::string::npos)
      line = line.substr(slash + 1);
    bool own = line.rfind("Shim.h", 0) == 0 || line.rfind("Handlers.h", 0) == 0;
    if (line.empty() || line[0] == '?' || own || line == last || line.find(":?") != std::string::npos)
      continue;
    text += (text.empty() ? "" : " in ") + line;
    last = line;
  }
  return text;
}

} // namespace gpuc::sim
