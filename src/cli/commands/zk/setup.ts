import { Command } from "commander";
import { writeWholeSync } from "../../../base/writeWhole.ts";
import { byteText, table } from "../../../base/text.ts";
import { beginKey, type Ceremony } from "../../../circuits/groth16/ceremony.ts";
import { loadCurve, type Curve } from "../../../circuits/groth16/curve.ts";
import { writeKey } from "../../../circuits/groth16/keyFile.ts";
import { keyHash, type ProvingKey } from "../../../circuits/groth16/keys.ts";
import { drawSecrets, setUpKnown } from "../../../circuits/groth16/setup.ts";
import { circuitOptions, loadCircuit, loadPowers, type CircuitOptions } from "../../circuits.ts";
import { requirePlace, writing } from "../../folders.ts";
import { addExamples } from "../../globalOptions.ts";
import type { Output } from "../../output.ts";

type Options = CircuitOptions & { key: string; powers?: string };

/** `refute zk setup`: a key made on this machine, for tests and local chains, or the first key of a ceremony. */
export function setupCommand(output: Output): Command {
  const command = new Command("setup")
    .description(
      "make keys for a program: on this machine alone, for tests, because this machine could prove anything; or with " +
        "--powers the key from which a ceremony begins",
    )
    .argument("<model>", "ONNX file")
    .requiredOption("--key <file>", "where the proving key is written")
    .option("--powers <file>", "points of a first phase (.ptau): zk contribute makes a key of what is written")
    .action(async (path: string, options: Options) => {
      requirePlace("--key", options.key);
      const program = loadCircuit(path, options, output);
      const curve = await loadCurve();
      const { key, ceremony } = keyFor(curve, program, options.powers);
      const bytes = writeKey(curve, key, program.domains, ceremony);
      writing("--key ", options.key, () => writeWholeSync(options.key, bytes));
      const answer = {
        ...{ keyHash: keyHash(key.verifying), circuit: program.subject.circuit, bytes: bytes.length },
        phase1: ceremony?.phase1,
      };
      if (ceremony === undefined)
        output.warn("the secrets of this key were known to this machine: contracts take it on local chains only");
      else output.warn("this key proves nothing yet: refute zk contribute makes a key of it, on any machine");
      output.answer(
        answer,
        table([
          ["key hash", answer.keyHash],
          ["circuit", answer.circuit],
          ...(ceremony === undefined ? [] : [["first phase", ceremony.phase1]]),
          ["written", `${options.key}, ${byteText(bytes.length)}`],
        ]),
      );
    });
  return addExamples(
    circuitOptions(command),
    "zk setup model.onnx --key model.key",
    "zk setup model.onnx --powers powers.ptau --key begun.key",
  );
}

function keyFor(
  curve: Curve,
  { circuit, subject }: Pick<ReturnType<typeof loadCircuit>, "circuit" | "subject">,
  powersPath: string | undefined,
): { key: ProvingKey; ceremony?: Ceremony } {
  if (powersPath === undefined) return { key: setUpKnown(curve, circuit.circuit, subject, drawSecrets()) };
  const powers = loadPowers(curve, powersPath, circuit.circuit);
  return {
    key: beginKey(curve, circuit.circuit, subject, powers),
    ceremony: { phase1: powers.hash, contributions: [] },
  };
}
