// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "gpuc/Codegen/TuningDatabase.h"
#include "gpuc/Codegen/Family.h"
#include "gpuc/IR/Constants.h"
#include "gpuc/IR/Storage.h"
#include "gpuc/IR/Types.h"
#include "gpuc/Support/EmbeddedFile.h"
#include "gpuc/Support/File.h"
#include "gpuc/Support/Hash.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace gpuc {

extern const EmbeddedFile tuningFiles[];
extern const unsigned tuningFilesCount;

// --- problems

static void printStrides(llvm::raw_ostream &os, Value value) {
  os << '[';
  llvm::interleaveComma(storageStrides(value), os);
  os << ']';
}

/// The kernel op without what differs between equal problems: names, places in memory, values of weights.
static std::string problemText(KernelOp kernel) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << kernel.getFamily() << '\n';
  for (Value input : kernel.getInputs()) {
    os << (getConstant(input) ? "constant " : "value ") << input.getType() << ' ';
    printStrides(os, input);
    os << '\n';
  }
  for (unsigned i = 0; i < kernel.getNumResults(); ++i) {
    os << "result " << kernel.getResult(i).getType() << " [";
    llvm::interleaveComma(kernel.getStorageStrides(i), os);
    os << "]\n";
  }
  // Values by number within the region, so that the text does not depend on what is around it.
  llvm::DenseMap<Value, unsigned> numbers;
  for (BlockArgument argument : kernel.getBody().front().getArguments())
    numbers[argument] = numbers.size();
  for (Operation &op : kernel.getBody().front()) {
    os << op.getName();
    for (Value operand : op.getOperands())
      os << " %" << numbers.lookup(operand);
    os << ' ';
    auto constant = dyn_cast<ConstantOp>(op);
    if (!constant || tensorType(constant.getY()).getNumElements() <= 16)
      op.getAttrDictionary().print(os);
    for (Value result : op.getResults()) {
      numbers[result] = numbers.size();
      os << ' ' << result.getType();
    }
    os << '\n';
  }
  return text;
}

TuningKey tuningKey(KernelOp kernel, const Target &target) {
  const KernelFamily *family = findFamily(kernel.getFamily());
  std::string text = problemText(kernel);
  return {std::string(target.arch), kernel.getFamily().str(), family ? family->tuningVersion() : 0,
          toHex(sha256(text.data(), text.size())).substr(0, 16)};
}

std::string toText(DictionaryAttr config) {
  std::string text;
  llvm::raw_string_ostream os(text);
  config.print(os);
  return text;
}

std::string describeProblem(KernelOp kernel) {
  std::string text;
  llvm::raw_string_ostream os(text);
  Operation *root = kernel.getRoot();
  os << (root ? root->getName().stripDialect() : kernel.getFamily());
  if (root)
    for (Value operand : root->getOperands())
      os << ' ' << operand.getType();
  os << " ->";
  for (Value result : kernel.getResults())
    os << ' ' << result.getType();
  size_t others = 0;
  for (Operation &op : kernel.getBody().front().without_terminator())
    others += &op != root && !isa<ConstantOp>(op);
  if (others)
    os << " with " << others << " more ops";
  return text;
}

// --- the file

static Result<std::pair<TuningKey, TuningEntry>> parseLine(llvm::StringRef line) {
  auto value = llvm::json::parse(line);
  if (!value)
    return invalidArgument(llvm::toString(value.takeError()));
  const llvm::json::Object *o = value->getAsObject();
  if (!o)
    return invalidArgument("expected a JSON object");
  auto arch = o->getString("arch"), family = o->getString("family"), problem = o->getString("problem");
  auto version = o->getInteger("version");
  auto config = o->getString("config");
  auto library = o->getBoolean("library");
  if (!arch || !family || !problem || !version)
    return invalidArgument("expected \"arch\", \"family\", \"version\" and \"problem\"");
  if (!config && !library.value_or(false))
    return invalidArgument("expected \"config\" or \"library\": true");
  TuningKey key = {arch->str(), family->str(), unsigned(*version), problem->str()};
  TuningEntry entry;
  entry.config = config.value_or("").str();
  entry.library = library.value_or(false);
  entry.about = o->getString("about").value_or("").str();
  entry.microseconds = o->getNumber("us").value_or(0);
  entry.firstMicroseconds = o->getNumber("first_us").value_or(0);
  entry.candidates = unsigned(o->getInteger("candidates").value_or(0));
  entry.measured = o->getString("measured").value_or("").str();
  return std::pair(std::move(key), std::move(entry));
}

Result<TuningDatabase> TuningDatabase::parse(std::string_view text, const std::string &name) {
  TuningDatabase database;
  llvm::StringRef rest(text.data(), text.size());
  for (unsigned number = 1; !rest.empty(); ++number) {
    auto [line, after] = rest.split('\n');
    rest = after;
    if (line.trim().empty() || line.ltrim().starts_with("#"))
      continue;
    auto parsed = parseLine(line);
    if (!parsed)
      return invalidArgument("tuning database '" + name + "', line " + std::to_string(number) + ": " +
                             parsed.status().message());
    database.entries[parsed->first] = std::move(parsed->second);
  }
  return database;
}

Result<TuningDatabase> TuningDatabase::load(const std::string &path) {
  auto text = readFile(path);
  if (!text)
    return text.status();
  return parse(*text, path);
}

const TuningDatabase &TuningDatabase::shipped() {
  static const TuningDatabase database = [] {
    TuningDatabase all;
    for (unsigned i = 0; i < tuningFilesCount; ++i) {
      auto one = parse({tuningFiles[i].data, tuningFiles[i].size}, tuningFiles[i].path);
      assert(one && "a shipped tuning database is damaged; TuningDatabaseTest says where");
      if (one)
        all.entries.merge(one->entries);
    }
    return all;
  }();
  return database;
}

const TuningEntry *TuningDatabase::find(const TuningKey &key) const {
  auto at = entries.find(key);
  return at == entries.end() ? nullptr : &at->second;
}

std::string TuningDatabase::text() const {
  std::string out;
  llvm::raw_string_ostream os(out);
  for (const auto &[key, entry] : entries) {
    llvm::json::OStream json(os);
    json.object([&, &key = key, &entry = entry] {
      json.attribute("arch", key.arch);
      json.attribute("family", key.family);
      json.attribute("version", key.version);
      json.attribute("problem", key.problem);
      if (entry.library)
        json.attribute("library", true);
      else
        json.attribute("config", entry.config);
      for (auto [name, microseconds] :
           {std::pair("us", entry.microseconds), std::pair("first_us", entry.firstMicroseconds)}) {
        json.attributeBegin(name);
        json.rawValue(llvm::formatv("{0:f3}", microseconds).str());
        json.attributeEnd();
      }
      json.attribute("candidates", entry.candidates);
      json.attribute("about", entry.about);
      json.attribute("measured", entry.measured);
    });
    json.flush();
    os << '\n';
  }
  return out;
}

const TuningEntry *TuningSources::find(const TuningKey &key) const {
  for (const TuningDatabase *database : databases)
    if (const TuningEntry *entry = database->find(key))
      return entry;
  return nullptr;
}

} // namespace gpuc
