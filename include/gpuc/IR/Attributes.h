// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kind attributes: enums of Support/OpKinds.h in the IR, printed as bare keywords.
#pragma once
#include "gpuc/Support/OpKinds.h"
#include "mlir/IR/Attributes.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"

namespace gpuc {

/// Reads a keyword and looks it up with `parse`.
template <typename Kind>
mlir::FailureOr<Kind> parseKindKeyword(mlir::AsmParser &parser, llvm::StringRef what,
                                       std::optional<Kind> (*parse)(std::string_view)) {
  llvm::StringRef word;
  llvm::SMLoc at = parser.getCurrentLocation();
  if (parser.parseKeyword(&word))
    return mlir::failure();
  if (auto kind = parse(std::string_view(word.data(), word.size())))
    return *kind;
  parser.emitError(at) << "unknown " << what << " '" << word << "'";
  return mlir::failure();
}

} // namespace gpuc

#define GPUC_KIND_PARSER(Kind)                                                                               \
  template <> struct mlir::FieldParser<::gpuc::Kind> {                                                       \
    static FailureOr<::gpuc::Kind> parse(AsmParser &parser) {                                                \
      return ::gpuc::parseKindKeyword<::gpuc::Kind>(parser, #Kind, &::gpuc::parse##Kind);                    \
    }                                                                                                        \
  };                                                                                                         \
  namespace gpuc {                                                                                           \
  template <typename Printer, std::enable_if_t<std::is_base_of_v<mlir::AsmPrinter, Printer>, int> = 0>       \
  Printer &operator<<(Printer &printer, Kind kind) {                                                         \
    std::string_view text = name(kind);                                                                      \
    printer << llvm::StringRef(text.data(), text.size());                                                    \
    return printer;                                                                                          \
  }                                                                                                          \
  }
GPUC_KIND_PARSER(UnaryKind)
GPUC_KIND_PARSER(BinaryKind)
GPUC_KIND_PARSER(ReduceKind)
GPUC_KIND_PARSER(PadMode)
GPUC_KIND_PARSER(ScatterReduction)
GPUC_KIND_PARSER(ResizeMode)
GPUC_KIND_PARSER(CoordinateMode)
GPUC_KIND_PARSER(NearestMode)
GPUC_KIND_PARSER(RoundMode)
#undef GPUC_KIND_PARSER

#define GET_ATTRDEF_CLASSES
#include "gpuc/IR/GpucAttributes.h.inc"
