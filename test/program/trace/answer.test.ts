import { expect } from "chai";
import { fromHash, sha256, toHash, type Hash } from "../../../src/program/merkle/hash.ts";
import { MerkleList } from "../../../src/program/merkle/list.ts";
import { tensorRoot } from "../../../src/program/merkle/tensor.ts";
import { executeRun } from "../../../src/runs/executeRun.ts";
import { readHeader } from "../../../src/program/header.ts";
import { Answer, isOfEachItem } from "../../../src/program/trace/answer.ts";
import { decodeOutput, encodeOutput, outputPlace } from "../../../src/program/trace/openedOutput.ts";
import { RunInputs } from "../../../src/program/trace/runInputs.ts";
import { apartAnswers, carriedAnswers } from "../../../testkit/programs/answerPrograms.ts";
import { runInputBytes } from "../../../testkit/programs/runProgram.ts";
import { executionOf } from "../../../testkit/programs/runsOf.ts";

/** The root above a leaf, by the path's own rule. */
function climb(leaf: Hash, index: number, path: readonly Hash[]): Hash {
  return path.reduce((node, sibling, height) => {
    const pair = [fromHash(node), fromHash(sibling)];
    return toHash(sha256(...(Math.floor(index / 2 ** height) % 2 === 0 ? pair : pair.reverse())));
  }, leaf);
}

describe("Answer", () => {
  for (const [name, program] of [
    ["carried", carriedAnswers()],
    ["apart", apartAnswers()],
    ["apartInOneRange", apartAnswers("one")],
  ] as const) {
    for (const items of [1, 2, 5]) {
      it(`of${items}Items_${name}_isThatOfTheOutputsBytes_andOpensEachOfThem`, async () => {
        const inputs = new RunInputs(program.model.program.inputs, { items, firstItem: 0 }, runInputBytes(items));
        const run = await executeRun(program, inputs, executionOf(), { form: "answer" });
        const { program: compiled } = program.model;
        // By the definition, item after item.
        const tensors: Uint8Array[][] = compiled.outputs.map(() => []);
        let state = inputs.bytes[0]!;
        for (let item = 0; item < items; item++) {
          const carried = name === "carried" && item > 0 ? new Map([[0, state]]) : undefined;
          const steps = await executionOf()(program.model, inputs.of(item, carried));
          state = steps.at(-1)!;
          compiled.outputs.forEach((checkpoint, output) => {
            const tensor = steps[compiled.checkpoints[checkpoint]!.step]!;
            if (isOfEachItem(compiled, output) || item === items - 1) tensors[output]!.push(tensor);
          });
        }
        const answer = Answer.ofTensors(tensors);
        expect(answer.root).to.equal(run.answer.root);
        expect(run.root).to.equal(answer.root);
        expect(run.claimed.root).to.equal(answer.root);
        const roots = tensors.map((own) => MerkleList.fromHashes(own.map(tensorRoot)).root);
        expect(answer.root).to.equal(MerkleList.fromHashes(roots).root);
        const { outputs } = readHeader(program.commitment.header);
        tensors.forEach((own, output) => {
          own.forEach((bytes, k) => {
            const item = own.length === 1 ? items - 1 : k;
            const siblings = answer.path(output, item);
            const below = siblings.slice(0, siblings.length - answer.list.depth);
            const node = climb(tensorRoot(bytes), own.length === 1 ? 0 : item, below);
            expect(climb(node, output, siblings.slice(below.length))).to.equal(answer.root);
            const job = { items, checkpoints: compiled.checkpoints.length, answers: outputs.length };
            const place = outputPlace(job, answer.root, item, output, outputs[output]!);
            const encoded = encodeOutput({ bytes, siblings });
            expect(decodeOutput(place, encoded)).to.deep.equal({ bytes, siblings });
            encoded[encoded.length - 1]! ^= 1;
            expect(decodeOutput(place, encoded)).to.equal(undefined);
          });
        });
      });
    }
  }
});
