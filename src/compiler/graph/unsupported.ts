import type { Node } from "../../model/onnx/model.ts";

const TEXT = "texts are not executed: tokenise before the model";
const GENERATION = "it generates until the data says stop: export one step of it";

/** Operators that are known and not executed, by domain, dot and name, and why. */
export const REASONS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ".MaxRoiPool": "which elements its windows hold depends on the data",
    "ai.onnx.ml.CategoryMapper": "it maps texts: encode categories as integers before the model",
    "ai.onnx.ml.DictVectorizer": "maps are no tensors: give the features as a tensor",
    "ai.onnx.ml.CastMap": "maps are no tensors: give the features as a tensor",
    "ai.onnx.ml.ZipMap": "maps are no tensors: export with zipmap=False, and use the tensor of scores",
    ".ImageDecoder": "files are decoded before the model",
    ".StringNormalizer": TEXT,
    ".StringConcat": TEXT,
    ".StringSplit": TEXT,
    ".RegexFullMatch": TEXT,
    "com.microsoft.Tokenizer": TEXT,
    "com.microsoft.BeamSearch": GENERATION,
    "com.microsoft.GreedySearch": GENERATION,
    "com.microsoft.Sampling": GENERATION,
    "com.microsoft.WhisperBeamSearch": GENERATION,
  }),
);

const DOMAINS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    "com.microsoft.nchwc": "it is of one processor's layout: optimise the model to level extended at most",
    "com.ms.internal.nhwc": "it is of one processor's layout: optimise the model to level extended at most",
  }),
);

/** Why a node whose operator is not in the table is refused. */
export function whyUnsupported({ operator, domain }: Node): string {
  const known = REASONS.get(`${domain}.${operator}`) ?? DOMAINS.get(domain);
  if (known !== undefined) return known;
  return `${domain === "" ? "it" : `${domain}.${operator}`} is not in the table of operators`;
}
