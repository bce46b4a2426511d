import { Command } from "commander";
import { table } from "../../../base/text.ts";
import { loadCurve } from "../../../circuits/groth16/curve.ts";
import { faultOf, hasKnownSecrets, readProof } from "../../../circuits/proofFile.ts";
import { circuitOptions, loadCircuit, type CircuitOptions } from "../../circuits.ts";
import { NegativeVerdict } from "../../errors.ts";
import { addExamples } from "../../globalOptions.ts";
import type { Output } from "../../output.ts";
import { readJson } from "../../settings.ts";

/** `refute zk verify`: compiles the circuit anew, and checks a proof's key, tensors and equation. */
export function verifyCommand(output: Output): Command {
  const command = new Command("verify")
    .description("check that a proof is of a model: its circuit, compiled anew, its tensors, its equation")
    .argument("<model>", "ONNX file")
    .requiredOption("--proof <file>", "the proof")
    .action(async (path: string, options: CircuitOptions & { proof: string }) => {
      const proof = readProof(readJson(options.proof, "proof"));
      const { circuit, subject } = loadCircuit(path, options, output);
      const fault = faultOf(await loadCurve(), circuit, subject, proof);
      if (fault !== undefined) throw new NegativeVerdict(`${options.proof}: ${fault}`);
      const isForTests = hasKnownSecrets(proof);
      if (isForTests) output.warn("the key's secrets are known: whoever made the key can prove anything");
      output.answer(
        {
          holds: true,
          programRoot: subject.program,
          keyHash: proof.keyHash,
          circuit: subject.circuit,
          knownSecrets: isForTests,
        },
        table([
          ["the proof holds", options.proof],
          ["program root", subject.program],
          ["key hash", proof.keyHash],
          ["circuit", subject.circuit],
        ]),
      );
    });
  return addExamples(circuitOptions(command), "zk verify model.onnx --proof proof.json");
}
