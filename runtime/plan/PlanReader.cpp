// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// File -> Plan. Order matters: the header's numbers, the manifest's hash, FlatBuffers' verifier, spans
// against their sections, and last validatePlan on what was built. Nothing is used before the step that
// vouches for it.
#include "FileLayout.h"
#include "gpuc/Plan/Plan.h"
#include "gpuc/Plan/plan_generated.h"
#include "gpuc/Support/File.h"
#include "gpuc/Support/Hash.h"

namespace gpuc {

using namespace planfile;

namespace {
Status corrupt(const std::string &what) { return dataLoss("corrupt plan: " + what); }

class PlanReader {
public:
  PlanReader(SharedBytes bytes, const LoadPlanOptions &options) : file(std::move(bytes)), options(options) {}
  Result<Plan> read();

private:
  Status readHeader();
  Status readSections();
  Status readTensors(const flatbuffers::Vector<flatbuffers::Offset<schema::Tensor>> *list,
                     std::vector<PlanTensor> &out);
  Status readProgram(const schema::Program &p, PlanProgram &out);
  Status readSteps(const flatbuffers::Vector<flatbuffers::Offset<schema::Step>> *list,
                   std::vector<PlanStep> &out);
  Status readStep(const schema::Step &s, PlanStep &out);
  Result<SharedBytes> span(const schema::Span *s, SectionKind kind, const char *what);

  SharedBytes file;
  LoadPlanOptions options;
  Header header;
  std::vector<uint64_t> aligned; ///< copy of the manifest at an address FlatBuffers can read from
  const schema::Manifest *manifest = nullptr;
  SharedBytes sections[kNumSections];
  Plan plan;
};

std::string text(const flatbuffers::String *s) { return s ? s->str() : std::string(); }

/// FlatBuffers' verifier (2.0) does not look at the alignment of a vector's elements.
template <typename T> bool isAligned(const flatbuffers::Vector<T> *list) {
  using Element = std::remove_const_t<std::remove_pointer_t<decltype(list->Get(0))>>;
  return !list || reinterpret_cast<uintptr_t>(list->Data()) % alignof(Element) == 0;
}

/// Elements of a vector that may be absent.
template <typename T> auto elements(const flatbuffers::Vector<T> *list) {
  std::vector<decltype(list->Get(0))> out;
  if (list)
    for (flatbuffers::uoffset_t i = 0; i < list->size(); ++i)
      out.push_back(list->Get(i));
  return out;
}
} // namespace

Status PlanReader::readHeader() {
  if (!looksLikePlan(file.data(), file.size()))
    return dataLoss("not a gpuc plan: expected the bytes '" + std::string(kMagic) + "' at the start");
  if (file.size() < offsetof(Header, headerBytes))
    return corrupt("truncated after " + std::to_string(file.size()) + " bytes");
  uint32_t version;
  std::memcpy(&version, file.data() + offsetof(Header, version), sizeof(version));
  if (version != kPlanFormatVersion)
    return dataLoss("plan has format version " + std::to_string(version) + ", expected " +
                    std::to_string(kPlanFormatVersion) + "; compile the model again with this gpuc");
  if (file.size() < kHeaderBytes)
    return corrupt("truncated after " + std::to_string(file.size()) + " bytes");
  std::memcpy(&header, file.data(), sizeof(header));
  if (header.fileBytes != file.size())
    return corrupt("expected " + std::to_string(header.fileBytes) + " bytes, got " +
                   std::to_string(file.size()));
  if (header.headerBytes != kHeaderBytes || header.manifestOffset != kHeaderBytes)
    return corrupt("unexpected header layout");
  if (header.manifestBytes > kMaxManifestBytes || header.manifestBytes > file.size() - kHeaderBytes)
    return corrupt("manifest of " + std::to_string(header.manifestBytes) + " bytes does not fit");
  for (uint8_t b : header.reserved)
    if (b)
      return corrupt("reserved header bytes are not zero");
  if (options.verifyHash) {
    Sha256 hash;
    hash.update(file.data(), offsetof(Header, hash));
    hash.update(file.data() + kHeaderBytes, header.manifestBytes);
    Sha256Digest digest = hash.finish();
    if (std::memcmp(digest.data(), header.hash, digest.size()) != 0)
      return corrupt("the manifest's SHA-256 differs from the one in the header");
  }
  aligned.resize(alignUp(header.manifestBytes, 8) / 8 + 1);
  std::memcpy(aligned.data(), file.data() + kHeaderBytes, header.manifestBytes);
  flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t *>(aligned.data()), header.manifestBytes,
                                 /*max_depth=*/16, /*max_tables=*/50000000);
  if (!schema::VerifyManifestBuffer(verifier))
    return corrupt("the manifest is no valid FlatBuffer");
  manifest = schema::GetManifest(aligned.data());
  return {};
}

Status PlanReader::readSections() {
  static constexpr const char *kNames[kNumSections] = {"constants", "cubins", "texts"};
  if (!manifest->sections() || manifest->sections()->size() != kNumSections)
    return corrupt("expected " + std::to_string(unsigned(kNumSections)) + " sections");
  if (!isAligned(manifest->sections()))
    return corrupt("the section table is not aligned");
  uint64_t dataStart = alignUp(kHeaderBytes + header.manifestBytes, kSectionAlignment);
  for (unsigned i = 0; i < kNumSections; ++i) {
    const schema::Section &s = *manifest->sections()->Get(i);
    if (s.size() == 0)
      continue;
    uint64_t available = file.size() > dataStart ? file.size() - dataStart : 0;
    if (s.offset() % kSectionAlignment || s.offset() > available || s.size() > available - s.offset())
      return corrupt(std::string("section ") + kNames[i] + " lies outside the file or is not aligned");
    sections[i] = file.slice(dataStart + s.offset(), s.size());
    if (options.verifyHash) {
      Sha256Digest digest = sha256(sections[i].data(), sections[i].size());
      if (std::memcmp(digest.data(), s.sha256()->data(), digest.size()) != 0)
        return corrupt(std::string("SHA-256 of section ") + kNames[i] + " differs from the manifest's");
    }
  }
  return {};
}

Result<SharedBytes> PlanReader::span(const schema::Span *s, SectionKind kind, const char *what) {
  if (!s)
    return corrupt(std::string(what) + " has no data");
  const SharedBytes &section = sections[kind];
  if (s->offset() > section.size() || s->size() > section.size() - s->offset())
    return corrupt(std::string(what) + " lies outside its section");
  if (s->size() == 0)
    return SharedBytes();
  return section.slice(s->offset(), s->size());
}

Status PlanReader::readTensors(const flatbuffers::Vector<flatbuffers::Offset<schema::Tensor>> *list,
                               std::vector<PlanTensor> &out) {
  for (const schema::Tensor *t : elements(list)) {
    PlanTensor tensor;
    tensor.name = text(t->name());
    tensor.dtype = DType(t->dtype());
    if (!isAligned(t->shape()))
      return corrupt("the shape of '" + tensor.name + "' is not aligned");
    for (int64_t d : elements(t->shape()))
      tensor.shape.push_back(d);
    if (t->specialised())
      tensor.specialisedTo =
          t->value() ? SharedBytes::copyOf(t->value()->data(), t->value()->size()) : SharedBytes();
    out.push_back(std::move(tensor));
  }
  return {};
}

static BufferRef buffer(const schema::Buffer &b) { return {MemorySpace(b.space()), b.index(), b.offset()}; }

template <typename T> static T fromBits(uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}

template <typename T, size_t N, typename A> static void assign(std::array<T, N> &out, const A *in) {
  for (size_t i = 0; i < N; ++i)
    out[i] = in->Get(flatbuffers::uoffset_t(i));
}

static TensorMapLayout tensorMap(const schema::TensorMap &m) {
  TensorMapLayout l;
  l.dtype = DType(m.dtype());
  l.rank = m.rank();
  assign(l.dims, m.dims());
  assign(l.strides, m.strides());
  assign(l.box, m.box());
  assign(l.elementStrides, m.element_strides());
  l.swizzle = TensorMapLayout::Swizzle(m.swizzle());
  l.im2col = m.im2col() != 0;
  assign(l.lower, m.lower());
  assign(l.upper, m.upper());
  l.channelsPerPixel = m.channels_per_pixel();
  l.pixelsPerColumn = m.pixels_per_column();
  l.byteOffset = m.byte_offset();
  return l;
}

static Status readArg(const schema::Arg &a, std::vector<KernelArg> &out) {
  switch (a.kind()) {
  case 0:
    out.push_back(BufferRef{MemorySpace(a.space()), a.index(), a.value()});
    return {};
  case 1:
    out.push_back(fromBits<int32_t>(a.value()));
    return {};
  case 2:
    out.push_back(fromBits<int64_t>(a.value()));
    return {};
  case 3:
    out.push_back(fromBits<float>(a.value()));
    return {};
  case 4:
    out.push_back(fromBits<double>(a.value()));
    return {};
  default:
    return corrupt("unknown kind of kernel argument " + std::to_string(a.kind()));
  }
}

static Status readArgs(const schema::Launch &l, std::vector<KernelArg> &out) {
  if (!isAligned(l.args()) || !isAligned(l.tensor_maps()))
    return corrupt("the arguments of a launch are not aligned");
  auto maps = elements(l.tensor_maps());
  size_t next = 0;
  for (const schema::Arg *a : elements(l.args())) {
    if (a->kind() != 5) {
      GPUC_RETURN_IF_ERROR(readArg(*a, out));
      continue;
    }
    if (next == maps.size())
      return corrupt("a launch lacks a tensor map");
    out.push_back(TensorMapArg{{MemorySpace(a->space()), a->index(), a->value()}, tensorMap(*maps[next++])});
  }
  return next == maps.size() ? Status() : corrupt("a launch has more tensor maps than arguments of the kind");
}

static Status readMatmul(const schema::Matmul &m, MatmulStep &out) {
  if (!m.a() || !m.b() || !m.d() || !m.workspace())
    return corrupt("matmul without operands");
  MatmulProblem &q = out.problem;
  q.m = m.m(), q.n = m.n(), q.k = m.k(), q.batch = m.batch();
  q.lda = m.lda(), q.ldb = m.ldb(), q.ldc = m.ldc(), q.ldd = m.ldd();
  q.strideA = m.stride_a(), q.strideB = m.stride_b(), q.strideC = m.stride_c(), q.strideD = m.stride_d();
  q.transposeA = m.transpose_a(), q.transposeB = m.transpose_b();
  q.dtypeA = DType(m.dtype_a()), q.dtypeB = DType(m.dtype_b()), q.dtypeD = DType(m.dtype_d());
  q.compute = MatmulCompute(m.compute()), q.epilogue = MatmulEpilogue(m.epilogue());
  q.alpha = m.alpha(), q.beta = m.beta();
  out.a = buffer(*m.a()), out.b = buffer(*m.b()), out.d = buffer(*m.d()),
  out.workspace = buffer(*m.workspace());
  if (m.c())
    out.c = buffer(*m.c());
  if (m.bias())
    out.bias = buffer(*m.bias());
  out.workspaceBytes = m.workspace_bytes();
  return {};
}

Status PlanReader::readStep(const schema::Step &s, PlanStep &out) {
  if (const schema::Launch *l = s.body_as_Launch()) {
    if (!l->grid() || !l->block())
      return corrupt("launch without a grid");
    LaunchStep step;
    step.kernel = l->kernel();
    step.grid = {l->grid()->x(), l->grid()->y(), l->grid()->z()};
    step.block = {l->block()->x(), l->block()->y(), l->block()->z()};
    step.sharedBytes = l->shared_bytes();
    step.programmaticDependent = l->programmatic_dependent();
    step.cluster = l->cluster();
    GPUC_RETURN_IF_ERROR(readArgs(*l, step.args));
    step.label = text(s.label());
    step.cost = {s.flops(), s.bytes()};
    out = std::move(step);
  } else if (const schema::Copy *c = s.body_as_Copy()) {
    if (!c->dst() || !c->src())
      return corrupt("copy without operands");
    out = CopyStep{buffer(*c->dst()), buffer(*c->src()), c->bytes(), text(s.label())};
  } else if (const schema::Fill *f = s.body_as_Fill()) {
    if (!f->dst())
      return corrupt("fill without a destination");
    out = FillStep{buffer(*f->dst()), f->value(), f->bytes(), text(s.label())};
  } else if (const schema::Matmul *m = s.body_as_Matmul()) {
    MatmulStep step;
    GPUC_RETURN_IF_ERROR(readMatmul(*m, step));
    step.label = text(s.label());
    step.cost = {s.flops(), s.bytes()};
    out = std::move(step);
  } else {
    return corrupt("unknown kind of step " + std::to_string(unsigned(s.body_type())));
  }
  return {};
}

Status PlanReader::readSteps(const flatbuffers::Vector<flatbuffers::Offset<schema::Step>> *list,
                             std::vector<PlanStep> &out) {
  for (const schema::Step *s : elements(list)) {
    out.emplace_back();
    GPUC_RETURN_IF_ERROR(readStep(*s, out.back()));
  }
  return {};
}

Status PlanReader::readProgram(const schema::Program &p, PlanProgram &out) {
  for (const flatbuffers::String *a : elements(p.archs()))
    out.archs.push_back(text(a));
  out.arenaBytes = p.arena_bytes();
  out.packedBytes = p.packed_bytes();
  for (const schema::Kernel *k : elements(p.kernels()))
    out.kernels.push_back({k->unit(), text(k->entry())});
  out.statistics = {p.arena_lower_bound(), p.flops(), p.bytes_moved()};
  GPUC_RETURN_IF_ERROR(readSteps(p.load_steps(), out.loadSteps));
  return readSteps(p.run_steps(), out.runSteps);
}

Result<Plan> PlanReader::read() {
  GPUC_RETURN_IF_ERROR(readHeader());
  GPUC_RETURN_IF_ERROR(readSections());
  plan.producer = text(manifest->producer());
  plan.modelName = text(manifest->model_name());
  plan.buildOptions = text(manifest->build_options());
  GPUC_RETURN_IF_ERROR(readTensors(manifest->inputs(), plan.inputs));
  GPUC_RETURN_IF_ERROR(readTensors(manifest->outputs(), plan.outputs));
  // Constants and texts follow each other, so a small file cannot claim much memory by naming one span many
  // times.
  uint64_t end = 0;
  for (const schema::Constant *c : elements(manifest->constants())) {
    auto data = span(c->data(), Constants, "a constant");
    if (!data)
      return data.status();
    if (c->data()->offset() % kPlanAlignment || c->data()->offset() < end)
      return corrupt("constants are not aligned or overlap");
    end = c->data()->offset() + c->data()->size();
    plan.constants.push_back({text(c->name()), data.take()});
  }
  end = 0;
  for (bool header : {true, false})
    for (const schema::Text *t : elements(header ? manifest->headers() : manifest->units())) {
      auto data = span(t->text(), Texts, header ? "a header" : "a unit");
      if (!data)
        return data.status();
      if (t->text()->offset() < end)
        return corrupt("texts overlap");
      end = t->text()->offset() + t->text()->size();
      std::string content(reinterpret_cast<const char *>(data->data()), data->size());
      if (header)
        plan.headers.push_back({text(t->name()), std::move(content)});
      else
        plan.units.push_back({text(t->name()), std::move(content)});
    }
  for (const schema::Cubin *c : elements(manifest->cubins())) {
    auto data = span(c->data(), Cubins, "a cubin");
    if (!data)
      return data.status();
    plan.cubins.push_back({c->unit(), text(c->arch()), data.take()});
  }
  for (const schema::Program *p : elements(manifest->programs())) {
    plan.programs.emplace_back();
    GPUC_RETURN_IF_ERROR(readProgram(*p, plan.programs.back()));
  }
  GPUC_RETURN_IF_ERROR(validatePlan(plan, StatusCode::DataLoss));
  return std::move(plan);
}

Result<Plan> loadPlan(SharedBytes bytes, const LoadPlanOptions &options) {
  return PlanReader(std::move(bytes), options).read();
}

Result<Plan> loadPlan(const std::string &path, const LoadPlanOptions &options) {
  auto bytes = mapFile(path);
  if (!bytes)
    return bytes.status();
  auto plan = loadPlan(bytes.take(), options);
  if (!plan)
    return Status(plan.status().code(), "cannot load '" + path + "': " + plan.status().message());
  return plan;
}

} // namespace gpuc
