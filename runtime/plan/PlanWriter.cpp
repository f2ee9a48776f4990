// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Plan -> file. Everything is laid out before a byte is written, so that constants are streamed to the file
// from where they are (a mapped model file, say) without a copy. No clock, no address, no hash order enters
// the bytes.
#include "FileLayout.h"
#include "gpuc/Plan/Plan.h"
#include "gpuc/Plan/plan_generated.h"
#include "gpuc/Support/File.h"
#include "gpuc/Support/Hash.h"

namespace gpuc {

using namespace planfile;

namespace {
/// One section as a list of pieces; `add` gives the offset of a piece within the section.
class SectionBuilder {
public:
  uint64_t add(const void *data, uint64_t bytes, uint64_t alignment) {
    pad(alignUp(size, alignment) - size);
    uint64_t offset = size;
    append(data, bytes);
    return offset;
  }
  schema::Span addSpan(std::string_view text) {
    return schema::Span(add(text.data(), text.size(), 1), text.size());
  }
  schema::Section finish(uint64_t offset) {
    Sha256Digest digest = hash.finish();
    return schema::Section(offset, size, flatbuffers::span<const uint8_t, 32>(digest));
  }
  uint64_t size = 0;
  std::vector<std::string_view> pieces;

private:
  void pad(uint64_t bytes) {
    static constexpr char kZeros[kSectionAlignment] = {};
    append(kZeros, bytes);
  }
  void append(const void *data, uint64_t bytes) {
    if (!bytes)
      return;
    pieces.emplace_back(static_cast<const char *>(data), bytes);
    hash.update(data, bytes);
    size += bytes;
  }
  Sha256 hash;
};

template <typename T> using Ref = flatbuffers::Offset<T>;

class ManifestBuilder {
public:
  explicit ManifestBuilder(const Plan &plan) : plan(plan) {}
  void build();

  SectionBuilder sections[kNumSections];
  uint64_t offsets[kNumSections]; ///< from the end of the manifest, rounded up to kSectionAlignment
  flatbuffers::FlatBufferBuilder fbb{1 << 16};

private:
  Ref<schema::Tensor> tensor(const PlanTensor &t);
  Ref<schema::Program> program(const PlanProgram &p);
  Ref<schema::Step> step(const PlanStep &s);
  Ref<flatbuffers::Vector<Ref<schema::Step>>> steps(const std::vector<PlanStep> &list) {
    std::vector<Ref<schema::Step>> refs;
    for (const PlanStep &s : list)
      refs.push_back(step(s));
    return fbb.CreateVector(refs);
  }
  Ref<flatbuffers::String> string(const std::string &s) { return fbb.CreateSharedString(s); }
  static schema::Buffer buffer(const BufferRef &r) {
    return schema::Buffer(uint8_t(r.space), r.index, r.offset);
  }
  static schema::Arg arg(const KernelArg &a);
  static schema::TensorMap tensorMap(const TensorMapLayout &l);
  const Plan &plan;
};
} // namespace

Ref<schema::Tensor> ManifestBuilder::tensor(const PlanTensor &t) {
  auto name = string(t.name);
  auto shape = fbb.CreateVector(t.shape);
  Ref<flatbuffers::Vector<uint8_t>> value;
  if (t.specialisedTo)
    value = fbb.CreateVector(t.specialisedTo->data(), t.specialisedTo->size());
  return schema::CreateTensor(fbb, name, uint8_t(t.dtype), shape, t.specialisedTo.has_value(), value);
}

template <typename T> static uint64_t bitsOf(T value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}

schema::Arg ManifestBuilder::arg(const KernelArg &a) {
  if (auto *r = std::get_if<BufferRef>(&a))
    return schema::Arg(0, uint8_t(r->space), r->index, r->offset);
  if (auto *map = std::get_if<TensorMapArg>(&a))
    return schema::Arg(5, uint8_t(map->base.space), map->base.index, map->base.offset);
  uint64_t bits = 0;
  if (auto *v = std::get_if<int32_t>(&a))
    bits = bitsOf(*v);
  else if (auto *v = std::get_if<int64_t>(&a))
    bits = bitsOf(*v);
  else if (auto *v = std::get_if<float>(&a))
    bits = bitsOf(*v);
  else
    bits = bitsOf(std::get<double>(a));
  return schema::Arg(uint8_t(a.index()), 0, 0, bits);
}

schema::TensorMap ManifestBuilder::tensorMap(const TensorMapLayout &l) {
  using flatbuffers::span;
  return schema::TensorMap(span<const uint64_t, 5>(l.dims), span<const uint64_t, 4>(l.strides), l.byteOffset,
                           span<const uint32_t, 5>(l.box), span<const uint32_t, 5>(l.elementStrides),
                           span<const int32_t, 3>(l.lower), span<const int32_t, 3>(l.upper),
                           l.channelsPerPixel, l.pixelsPerColumn, uint8_t(l.dtype), uint8_t(l.rank),
                           uint8_t(l.swizzle), l.im2col);
}

Ref<schema::Step> ManifestBuilder::step(const PlanStep &s) {
  auto wrap = [&](schema::Body type, Ref<void> body, const std::string &label, StepCost cost = {}) {
    auto text = string(label);
    return schema::CreateStep(fbb, type, body, text, cost.flops, cost.bytes);
  };
  if (auto *l = std::get_if<LaunchStep>(&s)) {
    std::vector<schema::Arg> args;
    std::vector<schema::TensorMap> maps;
    for (const KernelArg &a : l->args) {
      args.push_back(arg(a));
      if (auto *map = std::get_if<TensorMapArg>(&a))
        maps.push_back(tensorMap(map->layout));
    }
    auto list = fbb.CreateVectorOfStructs(args);
    Ref<flatbuffers::Vector<const schema::TensorMap *>> mapList;
    if (!maps.empty())
      mapList = fbb.CreateVectorOfStructs(maps);
    schema::Extent3 grid(l->grid[0], l->grid[1], l->grid[2]), block(l->block[0], l->block[1], l->block[2]);
    auto body = schema::CreateLaunch(fbb, l->kernel, &grid, &block, l->sharedBytes, l->programmaticDependent,
                                     list, l->cluster, mapList);
    return wrap(schema::Body::Launch, body.Union(), l->label, l->cost);
  }
  if (auto *c = std::get_if<CopyStep>(&s)) {
    schema::Buffer dst = buffer(c->dst), src = buffer(c->src);
    return wrap(schema::Body::Copy, schema::CreateCopy(fbb, &dst, &src, c->bytes).Union(), c->label);
  }
  if (auto *f = std::get_if<FillStep>(&s)) {
    schema::Buffer dst = buffer(f->dst);
    return wrap(schema::Body::Fill, schema::CreateFill(fbb, &dst, f->value, f->bytes).Union(), f->label);
  }
  auto &m = std::get<MatmulStep>(s);
  const MatmulProblem &q = m.problem;
  schema::Buffer a = buffer(m.a), b = buffer(m.b), d = buffer(m.d), w = buffer(m.workspace);
  schema::Buffer c = m.c ? buffer(*m.c) : schema::Buffer(),
                 bias = m.bias ? buffer(*m.bias) : schema::Buffer();
  schema::MatmulBuilder builder(fbb);
  builder.add_m(q.m), builder.add_n(q.n), builder.add_k(q.k), builder.add_batch(q.batch);
  builder.add_lda(q.lda), builder.add_ldb(q.ldb), builder.add_ldc(q.ldc), builder.add_ldd(q.ldd);
  builder.add_stride_a(q.strideA), builder.add_stride_b(q.strideB);
  builder.add_stride_c(q.strideC), builder.add_stride_d(q.strideD);
  builder.add_transpose_a(q.transposeA), builder.add_transpose_b(q.transposeB);
  builder.add_dtype_a(uint8_t(q.dtypeA)), builder.add_dtype_b(uint8_t(q.dtypeB));
  builder.add_dtype_d(uint8_t(q.dtypeD));
  builder.add_compute(uint8_t(q.compute)), builder.add_epilogue(uint8_t(q.epilogue));
  builder.add_alpha(q.alpha), builder.add_beta(q.beta);
  builder.add_a(&a), builder.add_b(&b), builder.add_d(&d), builder.add_workspace(&w);
  if (m.c)
    builder.add_c(&c);
  if (m.bias)
    builder.add_bias(&bias);
  builder.add_workspace_bytes(m.workspaceBytes);
  auto body = builder.Finish();
  return wrap(schema::Body::Matmul, body.Union(), m.label, m.cost);
}

Ref<schema::Program> ManifestBuilder::program(const PlanProgram &p) {
  std::vector<Ref<flatbuffers::String>> archs;
  for (const std::string &a : p.archs)
    archs.push_back(string(a));
  std::vector<Ref<schema::Kernel>> kernels;
  for (const PlanKernel &k : p.kernels) {
    auto entry = string(k.entry);
    kernels.push_back(schema::CreateKernel(fbb, k.unit, entry));
  }
  auto archList = fbb.CreateVector(archs);
  auto kernelList = fbb.CreateVector(kernels);
  auto load = steps(p.loadSteps);
  auto run = steps(p.runSteps);
  return schema::CreateProgram(fbb, archList, p.arenaBytes, p.packedBytes, kernelList, load, run,
                               p.statistics.arenaLowerBound, p.statistics.flops, p.statistics.bytesMoved);
}

void ManifestBuilder::build() {
  std::vector<Ref<schema::Tensor>> inputs, outputs;
  for (const PlanTensor &t : plan.inputs)
    inputs.push_back(tensor(t));
  for (const PlanTensor &t : plan.outputs)
    outputs.push_back(tensor(t));
  std::vector<Ref<schema::Constant>> constants;
  for (const PlanConstant &c : plan.constants) {
    schema::Span span(sections[Constants].add(c.data.data(), c.data.size(), kPlanAlignment), c.data.size());
    auto name = string(c.name);
    constants.push_back(schema::CreateConstant(fbb, name, &span));
  }
  std::vector<Ref<schema::Text>> headers, units;
  auto text = [&](const std::string &name, const std::string &content) {
    schema::Span span = sections[Texts].addSpan(content);
    auto nameRef = string(name);
    return schema::CreateText(fbb, nameRef, &span);
  };
  for (const PlanHeader &h : plan.headers)
    headers.push_back(text(h.path, h.text));
  for (const PlanUnit &u : plan.units)
    units.push_back(text(u.name, u.text));
  std::vector<Ref<schema::Cubin>> cubins;
  for (const PlanCubin &c : plan.cubins) {
    schema::Span span(sections[Cubins].add(c.data.data(), c.data.size(), kCubinAlignment), c.data.size());
    auto arch = string(c.arch);
    cubins.push_back(schema::CreateCubin(fbb, c.unit, arch, &span));
  }
  std::vector<Ref<schema::Program>> programs;
  for (const PlanProgram &p : plan.programs)
    programs.push_back(program(p));

  std::vector<schema::Section> table;
  uint64_t offset = 0;
  for (unsigned i = 0; i < kNumSections; ++i) {
    offsets[i] = offset;
    table.push_back(sections[i].finish(offset));
    offset = alignUp(offset + sections[i].size, kSectionAlignment);
  }
  auto producer = string(plan.producer), model = string(plan.modelName), options = string(plan.buildOptions);
  auto sectionList = fbb.CreateVectorOfStructs(table);
  auto inputList = fbb.CreateVector(inputs), outputList = fbb.CreateVector(outputs);
  auto constantList = fbb.CreateVector(constants);
  auto headerList = fbb.CreateVector(headers), unitList = fbb.CreateVector(units);
  auto cubinList = fbb.CreateVector(cubins);
  auto programList = fbb.CreateVector(programs);
  fbb.Finish(schema::CreateManifest(fbb, producer, model, options, sectionList, inputList, outputList,
                                    constantList, headerList, unitList, cubinList, programList));
}

/// Calls `write` with the file's pieces, in order.
template <typename Write> static Status emit(const Plan &plan, Write write) {
  GPUC_RETURN_IF_ERROR(validatePlan(plan));
  ManifestBuilder builder(plan);
  builder.build();
  std::string_view manifest(reinterpret_cast<const char *>(builder.fbb.GetBufferPointer()),
                            builder.fbb.GetSize());
  if (manifest.size() > kMaxManifestBytes)
    return unsupported("the plan's manifest has " + std::to_string(manifest.size()) +
                       " bytes, expected at most " + std::to_string(kMaxManifestBytes));
  uint64_t dataStart = alignUp(kHeaderBytes + manifest.size(), kSectionAlignment);
  uint64_t end = dataStart;
  for (unsigned i = 0; i < kNumSections; ++i)
    if (builder.sections[i].size)
      end = dataStart + builder.offsets[i] + builder.sections[i].size;

  Header header = {};
  std::memcpy(header.magic, kMagic.data(), kMagic.size());
  header.version = kPlanFormatVersion;
  header.headerBytes = kHeaderBytes;
  header.manifestOffset = kHeaderBytes;
  header.manifestBytes = manifest.size();
  header.fileBytes = end;
  Sha256 hash;
  hash.update(&header, offsetof(Header, hash));
  hash.update(manifest);
  Sha256Digest digest = hash.finish();
  std::memcpy(header.hash, digest.data(), digest.size());

  static constexpr char kZeros[kSectionAlignment] = {};
  std::vector<std::string_view> pieces = {{reinterpret_cast<const char *>(&header), sizeof(header)},
                                          manifest};
  uint64_t at = kHeaderBytes + manifest.size();
  auto padTo = [&](uint64_t offset) {
    if (offset > at)
      pieces.emplace_back(kZeros, offset - at);
    at = offset;
  };
  padTo(dataStart);
  for (unsigned i = 0; i < kNumSections; ++i) {
    if (!builder.sections[i].size)
      continue;
    padTo(dataStart + builder.offsets[i]);
    pieces.insert(pieces.end(), builder.sections[i].pieces.begin(), builder.sections[i].pieces.end());
    at += builder.sections[i].size;
  }
  return write(pieces);
}

Result<std::vector<uint8_t>> serializePlan(const Plan &plan) {
  std::vector<uint8_t> bytes;
  Status status = emit(plan, [&](const std::vector<std::string_view> &pieces) -> Status {
    for (std::string_view piece : pieces)
      bytes.insert(bytes.end(), piece.begin(), piece.end());
    return {};
  });
  if (!status.ok())
    return status;
  return bytes;
}

Status writePlan(const Plan &plan, const std::string &path) {
  return emit(plan,
              [&](const std::vector<std::string_view> &pieces) { return writeFileAtomically(path, pieces); });
}

} // namespace gpuc
