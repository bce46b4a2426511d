import type { Draft } from "../../src/compiler/passes/shares/draft.ts";
import { SharesError } from "../../src/compiler/errors.ts";

/** Stands in for the compiler's cut along a batch, which pages leave out. @throws SharesError */
export function cutBatch(_draft: Draft, _rowInputs: readonly string[], _share: unknown, source: string): Draft {
  throw new SharesError(`${source}: a page cuts no training step into shares; use the command refute job train`);
}
