import { Command } from "commander";
import { byteText, table } from "../../../base/text.ts";
import { writeWholeSync } from "../../../base/writeWhole.ts";
import { otherSubject } from "../../../circuits/circuitHash.ts";
import { contribute, contributionHashes } from "../../../circuits/groth16/ceremony.ts";
import { loadCurve } from "../../../circuits/groth16/curve.ts";
import { contributorFault } from "../../../circuits/groth16/keyCheck.ts";
import { MAX_NAME, readBegunKey, writeKey } from "../../../circuits/groth16/keyFile.ts";
import { keyHash } from "../../../circuits/groth16/keys.ts";
import { circuitOptions, loadCircuit, loadKey, loadPowers, type CircuitOptions } from "../../circuits.ts";
import { UsageError } from "../../errors.ts";
import { requirePlace, writing } from "../../folders.ts";
import { addExamples } from "../../globalOptions.ts";
import type { Output } from "../../output.ts";
import { as, unfit, type Parse } from "../../parse.ts";

type Options = CircuitOptions & { key: string; powers: string; next: string; name: string };

const contributor: Parse<string> = (text, name) => {
  if (text.length > 0 && text.length <= MAX_NAME) return text;
  throw unfit(text, name, `1 to ${MAX_NAME} characters`);
};

/** `refute zk contribute`: a key with one more contributor, all of whom would have to work together to forge proofs. */
export function contributeCommand(output: Output): Command {
  const command = new Command("contribute")
    .description("check a key of a ceremony, multiply a secret of this machine into it, and forget the secret")
    .argument("<model>", "ONNX file")
    .requiredOption("--key <file>", "the key so far, as zk setup --powers or the contributor before has written")
    .requiredOption("--powers <file>", "the points of the first phase from which the key was begun (.ptau)")
    .requiredOption("--next <file>", "where the key with this contribution is written")
    .requiredOption("--name <text>", "who contributes, for the key's transcript", as(contributor, "--name"))
    .action(async (path: string, options: Options) => {
      requirePlace("--next", options.next);
      const { circuit, subject } = loadCircuit(path, options, output);
      const curve = await loadCurve();
      const { key, domains, ceremony } = loadKey(curve, options.key, readBegunKey);
      if (ceremony === undefined) throw new UsageError(`--key ${options.key}: the key is not from a ceremony`);
      const fault =
        otherSubject(key.verifying, subject) ??
        contributorFault(curve, circuit.circuit, key, ceremony, loadPowers(curve, options.powers, circuit.circuit));
      if (fault !== undefined) throw new UsageError(`--key ${options.key}: ${fault}`);
      const next = contribute(curve, key, ceremony, options.name);
      const bytes = writeKey(curve, next.key, domains, next.ceremony);
      writing("--next ", options.next, () => writeWholeSync(options.next, bytes));
      const hashes = contributionHashes(curve, next.key.verifying, next.ceremony);
      const answer = {
        ...{ contribution: hashes.at(-1)!, contributions: hashes.length },
        ...{ keyHash: keyHash(next.key.verifying), bytes: bytes.length },
      };
      output.answer(
        answer,
        table([
          ["contribution", `${answer.contribution}, number ${answer.contributions}: publish this hash`],
          ["key hash", answer.keyHash],
          ["written", `${options.next}, ${byteText(bytes.length)}`],
        ]),
      );
    });
  return addExamples(
    circuitOptions(command),
    "zk contribute model.onnx --key begun.key --powers powers.ptau --next first.key --name Ada",
  );
}
