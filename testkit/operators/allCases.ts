import { CASES } from "./cases.ts";
import type { Make } from "./makers.ts";
import { MICROSOFT_ATTENTION_CASES } from "./microsoftAttentionCases.ts";
import { MICROSOFT_CASES } from "./microsoftCases.ts";
import { MICROSOFT_QUANTISED_CASES } from "./microsoftQuantisedCases.ts";
import { ML_CASES } from "./mlCases.ts";

type Lists = Readonly<Record<string, readonly Make[]>>;

const inDomain = (domain: string, lists: Lists): [string, readonly Make[]][] =>
  Object.entries(lists).map(([operator, makers]) => [`${domain}.${operator}`, makers]);

/** The experiments of every operator that makes tensors, by the operator's name with its domain. */
export const ALL_CASES: Lists = {
  ...CASES,
  ...Object.fromEntries([
    ...inDomain("ai.onnx.ml", ML_CASES),
    ...inDomain("com.microsoft", { ...MICROSOFT_CASES, ...MICROSOFT_ATTENTION_CASES, ...MICROSOFT_QUANTISED_CASES }),
  ]),
};
