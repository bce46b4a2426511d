import type { Node } from "../../model/onnx/model.ts";

/** A known operator without execution, and the reason. */
type Refused = { operator: string; domain: string; reason: string };

const ONNX = { domain: "" } as const;
const ML = { domain: "ai.onnx.ml" } as const;
const MICROSOFT = { domain: "com.microsoft" } as const;

const TEXT = "texts are not executed: tokenise before the model";
const MAPS = "maps are no tensors: give the features as a tensor";
const GENERATION = "it generates until the data says stop: export one step of it";

/** Operators refused for individual reasons. No operator is both in this list and in the table. */
export const REFUSED: readonly Refused[] = [
  { ...ONNX, operator: "MaxRoiPool", reason: "which elements its windows hold depends on the data" },
  { ...ONNX, operator: "ImageDecoder", reason: "files are decoded before the model" },
  { ...ONNX, operator: "StringNormalizer", reason: TEXT },
  { ...ONNX, operator: "StringConcat", reason: TEXT },
  { ...ONNX, operator: "StringSplit", reason: TEXT },
  { ...ONNX, operator: "RegexFullMatch", reason: TEXT },
  { ...ML, operator: "CategoryMapper", reason: "it maps texts: encode categories as integers before the model" },
  { ...ML, operator: "DictVectorizer", reason: MAPS },
  { ...ML, operator: "CastMap", reason: MAPS },
  {
    ...ML,
    operator: "ZipMap",
    reason: "maps are no tensors: export with zipmap=False, and use the tensor of scores",
  },
  { ...MICROSOFT, operator: "Tokenizer", reason: TEXT },
  { ...MICROSOFT, operator: "BeamSearch", reason: GENERATION },
  { ...MICROSOFT, operator: "GreedySearch", reason: GENERATION },
  { ...MICROSOFT, operator: "Sampling", reason: GENERATION },
  { ...MICROSOFT, operator: "WhisperBeamSearch", reason: GENERATION },
];

const LAYOUT = "it is of one processor's layout: optimise the model to level extended at most";

/** Domains whose operators are all refused for the same reason. */
const DOMAINS: ReadonlyMap<string, string> = new Map([
  ["com.microsoft.nchwc", LAYOUT],
  ["com.ms.internal.nhwc", LAYOUT],
]);

/** Returns the reason for refusing a node without a table row. */
export function whyUnsupported({ operator, domain }: Node): string {
  const known = REFUSED.find((row) => row.operator === operator && row.domain === domain);
  const reason = known?.reason ?? DOMAINS.get(domain);
  if (reason !== undefined) return reason;
  return `${domain === "" ? "it" : `${domain}.${operator}`} is not in the table of operators`;
}
