import { expect } from "chai";
import { toHex } from "../../../src/program/merkle/hash.ts";
import type { JobRecord } from "../../../src/chain/market/history.ts";
import { inputsOf } from "../../../src/chain/market/jobInputs.ts";
import { DType } from "../../../src/numerics/dtype.ts";
import { commitProgram } from "../../../src/program/root.ts";
import { MerkleList } from "../../../src/program/merkle/list.ts";
import { zeroRoot } from "../../../src/program/merkle/tensor.ts";
import { RunInputs } from "../../../src/program/trace/runInputs.ts";
import { runProgram } from "../../../testkit/programs/runProgram.ts";

/** A job whose only input is state, of which nothing is published. */
function jobOf(count: number, root: `0x${string}`): JobRecord {
  const inputs = [{ dtype: DType.uint8, count, source: { kind: "carried", checkpoint: 0 } }] as const;
  const { header } = commitProgram({ ...runProgram().model.program, inputs });
  return {
    job: { inputsRoot: MerkleList.fromHashes([root]).root, items: 3, firstItem: 0 },
    program: { header: toHex(header) },
    inputRoots: [root],
    parts: new Map(),
  } as unknown as JobRecord;
}

describe("state that is carried and not published", () => {
  it("zeros_areKnown_byTheirRoot", () => {
    for (const count of [1, 512, 1_300]) {
      expect(inputsOf(jobOf(count, zeroRoot(count)))!.tensors(0)).to.deep.equal([new Uint8Array(count)]);
      const inputs = [{ dtype: DType.uint8, count, source: { kind: "carried", checkpoint: 0 } }] as const;
      expect(new RunInputs(inputs, { items: 3, firstItem: 0 }, [new Uint8Array(count)]).roots).to.deep.equal([
        zeroRoot(count),
      ]);
    }
  });

  it("otherState_isMissing_andTakesNoMemory", () => {
    // More than can be allocated.
    for (const count of [1_300, 2 ** 32 - 1])
      expect(inputsOf(jobOf(count, `0x${"ab".repeat(32)}`))).to.equal(undefined);
  });
});
