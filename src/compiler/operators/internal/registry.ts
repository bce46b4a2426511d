import type { Entry } from "../entry.ts";
import { raiseThreshold } from "./raiseThreshold.ts";
import { randomWords } from "./randomWords.ts";

/** The domain of operators that only graphs of the compiler's own making have. */
export const OWN_DOMAIN = "refute";

/** The rows of operators that decoders are wrapped with. */
export const OWN_REGISTRY: readonly Entry[] = [
  { operator: "RaiseThreshold", domain: OWN_DOMAIN, since: 1, until: 1, use: "memory", lower: raiseThreshold },
  { operator: "RandomWords", domain: OWN_DOMAIN, since: 1, until: 1, use: "memory", lower: randomWords },
];
