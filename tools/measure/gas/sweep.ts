import { disputeMoves, type DisputeShape } from "../../../src/dispute/moveGas.ts";
import { CHUNK_BYTES } from "../../../src/program/merkle/sizes.ts";
import { dtypeBytes } from "../../../src/numerics/dtype.ts";
import { gasWorld, longestGame, playDispute } from "./wholeDisputes.ts";
import type { Subject } from "./subject.ts";

/** One choice of arity and chunk size. */
type SweepRow = {
  arity: number;
  chunk: number;
  transactions: number;
  "gas (model)": number;
  /** Played on chain; only for the chunk size that the contracts have. */
  "gas (played)": number | undefined;
  "dearest move": number | undefined;
};

const ARITY_BITS = [1, 2, 3, 4, 5, 6];
const CHUNKS = [256, 512, 1_024];
/** Gas of a byte of an opened chunk in a step proof: calldata, copies and hash. */
const PROOF_BYTE = 24;

/**
 * The game with the most moves over arity and chunk size. The arity is played on chain; for chunk sizes that the
 * contracts do not have, the model of src/dispute/moveGas.ts is evaluated, which the played games check. A step proof
 * opens at least one chunk of each input and the claimed one: their number is kept, their size and depth change.
 */
export async function sweep(subject: Subject): Promise<SweepRow[]> {
  const { program } = subject;
  const rows: SweepRow[] = [];
  for (const arityBits of ARITY_BITS) {
    const step = longestGame(subject, arityBits);
    const played = await playDispute(await gasWorld(arityBits), subject, step, false);
    const { first, step: last } = program.checkpoints.find((c) => c.first <= step && step <= c.step)!;
    const { count, dtype, inputs } = program.steps[step]!;
    for (const chunk of CHUNKS) {
      const shape: DisputeShape = {
        checkpoints: program.checkpoints.length,
        steps: program.steps.length,
        range: last - first + 1,
        tensorBytes: count * dtypeBytes(dtype),
        proofGas: played.proof + (chunk - CHUNK_BYTES) * (1 + inputs.length) * PROOF_BYTE,
        headerBytes: subject.commitment.header.length,
        arityBits,
        chunkBytes: chunk,
      };
      const model = disputeMoves(shape);
      const same = chunk === CHUNK_BYTES;
      rows.push({
        arity: 2 ** arityBits,
        chunk,
        transactions: model.moves.length,
        "gas (model)": model.gas,
        "gas (played)": same ? played.gas : undefined,
        "dearest move": same ? played.dearestMove : undefined,
      });
    }
  }
  return rows;
}
