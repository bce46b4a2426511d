import { Command } from "commander";
import type { Hex } from "viem";
import { table } from "../../../base/text.ts";
import { otherSubject } from "../../../circuits/circuitHash.ts";
import { contributionHashes } from "../../../circuits/groth16/ceremony.ts";
import { loadCurve, type Curve } from "../../../circuits/groth16/curve.ts";
import { keyFault } from "../../../circuits/groth16/keyCheck.ts";
import { keyHash } from "../../../circuits/groth16/keys.ts";
import { faultOf, hasKnownSecrets, readProof } from "../../../circuits/proofFile.ts";
import { circuitOptions, loadCircuit, loadKey, loadPowers, type CircuitOptions } from "../../circuits.ts";
import { NegativeVerdict, UsageError } from "../../errors.ts";
import { addExamples } from "../../globalOptions.ts";
import type { Output } from "../../output.ts";
import { readJson } from "../../settings.ts";

type Options = CircuitOptions & { proof?: string; key?: string; powers?: string };
type Loaded = ReturnType<typeof loadCircuit>;

/** `refute zk verify`: compiles the circuit anew, and checks a proof or a key from a ceremony. */
export function verifyCommand(output: Output): Command {
  const command = new Command("verify")
    .description(
      "check that a proof is of a model: its circuit, compiled anew, its tensors, its equation; or that a key from a " +
        "ceremony is: all its points and contributions",
    )
    .argument("<model>", "ONNX file")
    .option("--proof <file>", "the proof")
    .option("--key <file>", "the key from a ceremony, with --powers")
    .option("--powers <file>", "the points of the first phase from which the key was begun (.ptau)")
    .action(async (path: string, options: Options) => {
      if ((options.key === undefined) === (options.proof === undefined))
        throw new UsageError("give --proof FILE, or --key FILE and --powers FILE");
      if (options.key !== undefined && options.powers === undefined)
        throw new UsageError(`--key ${options.key}: give the points of the first phase, too: --powers FILE`);
      if (options.proof === undefined) await verifyKey(path, options, output);
      else await verifyProof(path, options, options.proof, output);
    });
  return addExamples(
    circuitOptions(command),
    "zk verify model.onnx --proof proof.json",
    "zk verify model.onnx --key model.key --powers powers.ptau",
  );
}

async function verifyProof(path: string, options: Options, file: string, output: Output): Promise<void> {
  const proof = readProof(readJson(file, "proof"));
  const { circuit, subject } = loadCircuit(path, options, output);
  const fault = faultOf(await loadCurve(), circuit, subject, proof);
  if (fault !== undefined) throw new NegativeVerdict(`${file}: ${fault}`);
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
      ["the proof holds", file],
      ["program root", subject.program],
      ["key hash", proof.keyHash],
      ["circuit", subject.circuit],
    ]),
  );
}

async function verifyKey(path: string, options: Options, output: Output): Promise<void> {
  const curve = await loadCurve();
  const program = loadCircuit(path, options, output);
  const { hash, phase1, contributions } = checkedKey(curve, program, options.key!, options.powers!);
  const { subject } = program;
  output.answer(
    {
      ...{ holds: true, programRoot: subject.program, keyHash: hash, circuit: subject.circuit, knownSecrets: false },
      ...{ phase1, contributions },
    },
    table([
      ["the key is of the model", options.key!],
      ["program root", subject.program],
      ["key hash", hash],
      ["circuit", subject.circuit],
      ["first phase", phase1],
      ...contributions.map(({ name, hash: own }, k) => [`contribution ${k + 1}`, `${own}, ${JSON.stringify(name)}`]),
    ]),
  );
}

/** @throws NegativeVerdict for a key made for another program */
function checkedKey(
  curve: Curve,
  { circuit: { circuit }, subject }: Loaded,
  path: string,
  powersPath: string,
): { hash: Hex; phase1: string; contributions: { name: string; hash: Hex }[] } {
  const { key, ceremony } = loadKey(curve, path);
  if (ceremony === undefined)
    throw new NegativeVerdict(`${path}: the key is not from a ceremony: whoever made the key can prove anything`);
  const fault =
    otherSubject(key.verifying, subject) ??
    keyFault(curve, circuit, key, ceremony, loadPowers(curve, powersPath, circuit));
  if (fault !== undefined) throw new NegativeVerdict(`${path}: ${fault}`);
  const hashes = contributionHashes(curve, key.verifying, ceremony);
  return {
    ...{ hash: keyHash(key.verifying), phase1: ceremony.phase1 },
    contributions: ceremony.contributions.map(({ name }, k) => ({ name, hash: hashes[k]! })),
  };
}
