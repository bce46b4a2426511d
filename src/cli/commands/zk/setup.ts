import { Command } from "commander";
import { writeWholeSync } from "../../../base/writeWhole.ts";
import { byteText, table } from "../../../base/text.ts";
import { loadCurve } from "../../../circuits/groth16/curve.ts";
import { writeKey } from "../../../circuits/groth16/keyFile.ts";
import { keyHash } from "../../../circuits/groth16/keys.ts";
import { drawSecrets, setUpKnown } from "../../../circuits/groth16/setup.ts";
import { circuitOptions, loadCircuit, type CircuitOptions } from "../../circuits.ts";
import { requirePlace, writing } from "../../folders.ts";
import { addExamples } from "../../globalOptions.ts";
import type { Output } from "../../output.ts";

/** `refute zk setup`: a key made on this machine, for tests and local chains. */
export function setupCommand(output: Output): Command {
  const command = new Command("setup")
    .description("make keys for a program on this machine alone: for tests, because this machine could prove anything")
    .argument("<model>", "ONNX file")
    .requiredOption("--key <file>", "where the proving key is written")
    .action(async (path: string, options: CircuitOptions & { key: string }) => {
      requirePlace("--key", options.key);
      const { circuit, subject, domains } = loadCircuit(path, options, output);
      const curve = await loadCurve();
      const key = setUpKnown(curve, circuit.circuit, subject, drawSecrets());
      const bytes = writeKey(curve, key, domains);
      writing("--key ", options.key, () => writeWholeSync(options.key, bytes));
      const answer = { keyHash: keyHash(key.verifying), circuit: subject.circuit, bytes: bytes.length };
      output.warn("the secrets of this key were known to this machine: contracts take it on local chains only");
      output.answer(
        answer,
        table([
          ["key hash", answer.keyHash],
          ["circuit", subject.circuit],
          ["written", `${options.key}, ${byteText(bytes.length)}`],
        ]),
      );
    });
  return addExamples(circuitOptions(command), "zk setup model.onnx --key model.key");
}
