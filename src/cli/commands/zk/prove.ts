import { Command } from "commander";
import { table } from "../../../base/text.ts";
import { writeWholeSync } from "../../../base/writeWhole.ts";
import { otherSubject } from "../../../circuits/circuitHash.ts";
import { loadCurve } from "../../../circuits/groth16/curve.ts";
import { prove } from "../../../circuits/groth16/prove.ts";
import { sizeFault } from "../../../circuits/groth16/rows.ts";
import { faultOf, proofFile } from "../../../circuits/proofFile.ts";
import { witnessOf } from "../../../circuits/witness.ts";
import { createExecutor } from "../../../executor/createExecutor.ts";
import { circuitOptions, loadCircuit, loadKey, type CircuitOptions } from "../../circuits.ts";
import { UsageError } from "../../errors.ts";
import { requirePlace, writing } from "../../folders.ts";
import { addExamples } from "../../globalOptions.ts";
import { readInputs } from "../../inputs.ts";
import { appendOption } from "../../modelOptions.ts";
import type { Output } from "../../output.ts";
import { as, unfit, type Parse } from "../../parse.ts";

type Options = CircuitOptions & { key: string; proof: string; input?: string[]; context?: bigint };

/** Contexts fill 31 bytes at most, like every public value. */
const contextNumber: Parse<bigint> = (text, name) => {
  if (/^(0x[0-9a-fA-F]{1,62}|\d{1,74})$/.test(text)) return BigInt(text);
  throw unfit(text, name, "a number of at most 31 bytes, such as 0x1234");
};

/** `refute zk prove`: executes a program, and proves the outputs. */
export function proveCommand(output: Output): Command {
  const command = new Command("prove")
    .description("execute a model, and prove that its outputs are right")
    .argument("<model>", "ONNX file")
    .requiredOption("--key <file>", "the proving key")
    .requiredOption("--proof <file>", "where the proof is written")
    .option("--input <name=file>", "an input tensor: .pb (TensorProto), .npy or .json; repeat for more", appendOption)
    .option(
      "--context <number>",
      "what the proof is bound to beside its tensors (default: 0)",
      as(contextNumber, "--context"),
    )
    .action(async (path: string, options: Options) => {
      requirePlace("--proof", options.proof);
      const { model, loaded, circuit, subject } = loadCircuit(path, options, output);
      const tensors = readInputs(loaded.model, options.input ?? []);
      const inputs = model.inputs.map(({ name }) => tensors.get(name)!.bytes);
      const curve = await loadCurve();
      const { key } = loadKey(curve, options.key);
      const other = otherSubject(key.verifying, subject) ?? sizeFault(circuit.circuit, key);
      if (other !== undefined) throw new UsageError(`--key ${options.key}: ${other}`);
      const executor = await createExecutor(model, { threads: 1 });
      const { tensors: all } = await executor.run(inputs);
      await executor.close();
      const { context = 0n } = options;
      const { outputs: named, checkpoints } = model.program;
      const outputs = named.map((checkpoint) => all[checkpoints[checkpoint]!.step]!);
      const { values } = witnessOf(circuit, inputs, outputs, context);
      const start = performance.now();
      const proof = prove(curve, key, circuit.circuit, values);
      const milliseconds = Math.round(performance.now() - start);
      const file = proofFile(circuit, key.verifying, proof, context, [...inputs, ...outputs]);
      const fault = faultOf(curve, circuit, subject, file);
      if (fault !== undefined) throw new UsageError(`--key ${options.key}: the key is damaged: ${fault}`);
      writing("--proof ", options.proof, () => writeWholeSync(options.proof, `${JSON.stringify(file, null, 2)}\n`));
      output.answer(
        { keyHash: file.keyHash, circuit: subject.circuit, milliseconds },
        table([
          ["key hash", file.keyHash],
          ["circuit", subject.circuit],
          ["written", `${options.proof}, in ${milliseconds} ms`],
        ]),
      );
    });
  return addExamples(circuitOptions(command), "zk prove model.onnx --key model.key --input x=x.npy --proof proof.json");
}
