import { parseEventLogs, type Address, type Hex } from "viem";
import { jobMarketAbi } from "../../src/chain/abi/jobMarket.ts";
import type { Claim, ExamResult } from "../../src/chain/structs.ts";
import { MerkleList } from "../../src/program/merkle/list.ts";
import { tensorRoot } from "../../src/program/merkle/tensor.ts";
import type { Trace } from "../../src/program/trace/trace.ts";
import { chainProgram, honestTrace, lyingTrace, type GameProgram } from "./chainProgram.ts";
import { CLASS_BLOCKS, deployExams, examNonce, nextExam, sit, resultOf, type ExamsContract } from "./examKit.ts";
import { GameDriver } from "./gameDriver.ts";
import { createPledgeWorld } from "./pledgeWorld.ts";
import { attest } from "./reports.ts";
import { TestDevice } from "./testDevice.ts";
import { factsOf } from "./world.ts";
import type { Actor, World } from "./deployWorld.ts";

/** How long after a result it can be challenged, seconds. */
export const EXAM_LIFETIME = 86_400;

/**
 * The zoo's programs. The first program has 9 steps in 3 ranges. The first two inputs have 32 bytes, the size of a
 * seed. The last input is too long: a deployer's mistake.
 */
export const EXAM_PROGRAMS = [chainProgram(8, [3, 1, 5]), chainProgram(8, [2]), chainProgram(9, [2])] as const;
export const EXAM_CLASSES = EXAM_PROGRAMS.map(({ commitment }, k) => ({
  programRoot: commitment.programRoot,
  blocks: CLASS_BLOCKS[k === 0 ? 0 : 1],
}));

/** The position of lies in the first program, with the step's checkpoint. */
export const EXAM_LIE = { step: 6, element: 5, checkpoint: 2 };

const deployExamClaims = ({ viem }: Pick<World, "viem">, exams: Address, claims: Address) =>
  viem.deployContract("ExamClaims", [exams, claims]);

/**
 * Creates a world of pledged claims (`createPledgeWorld`). The worker sits exams with a separate device, and has
 * pledged, but has not enrolled.
 */
export async function createExamClaimsWorld(tokenName: "TestToken" | "ReentrantToken" = "TestToken") {
  let exams: ExamsContract | undefined;
  let examClaims: Awaited<ReturnType<typeof deployExamClaims>> | undefined;
  const world = await createPledgeWorld({
    tokenName,
    more: async (base, claims) => {
      exams = await deployExams(base, { classes: EXAM_CLASSES });
      examClaims = await deployExamClaims(base, exams.address, claims);
      return [{ account: examClaims.address, lifetime: EXAM_LIFETIME }];
    },
  });
  const device = new TestDevice(world.manufacturer);
  await attest(world, world.worker.account.address, device);
  return { ...world, exams: exams!, examClaims: examClaims!, device };
}

type ExamClaimsWorld = Awaited<ReturnType<typeof createExamClaimsWorld>>;

/** A result with what was executed for it. */
export type Sat = { result: ExamResult; subject: GameProgram; trace: Trace };

/** Returns a program whose input holds a seed's bytes. */
function onSeed(subject: GameProgram, nonce: Hex): GameProgram {
  const input = Buffer.from(nonce.slice(2), "hex");
  return { ...subject, input, inputsList: MerkleList.fromHashes([tensorRoot(input)]) };
}

/** Who sits an exam and how: the world's worker in the first class, honestly, in the next exam, unless said. */
type ExamOptions = {
  by?: Address;
  device?: TestDevice;
  class?: number;
  lies?: boolean;
  gridBlock?: bigint;
};

/**
 * Executes a class's program on the worker's seed and reports the trace's root. A lying worker reports a wrong root.
 */
export async function satExam(world: ExamClaimsWorld, options: ExamOptions = {}): Promise<Sat> {
  const { by = world.worker.account.address, device = world.device, class: k = 0, lies = false } = options;
  const gridBlock = options.gridBlock ?? (await nextExam(world, world.exams));
  const program = EXAM_PROGRAMS[k]!;
  const nonce = await examNonce(world, by, device, gridBlock);
  const subject = program.input.length === 32 ? onSeed(program, nonce) : program;
  const trace = lies ? lyingTrace(subject, EXAM_LIE.step, EXAM_LIE.element) : honestTrace(subject);
  const hash = await sit(world, world.exams, by, device, { gridBlock, class: k, traceRoot: trace.root }, EXAM_CLASSES);
  return { result: await resultOf(world, world.exams, hash), subject, trace };
}

/** Returns the arguments of `challenge` for a result. */
export const challengeArgs = ({ result, subject }: Sat) => [result, factsOf(subject.commitment)] as const;

/** Has somebody put a result on chain. @returns its claim, and the transaction */
export async function challenged(
  world: ExamClaimsWorld,
  sat: Sat,
  by: Actor = world.watcher,
): Promise<{ claim: Claim; hash: Hex }> {
  const hash = await world.examClaims.write.challenge([...challengeArgs(sat)], { account: by.account });
  const { logs } = await world.client.getTransactionReceipt({ hash });
  const [posted] = parseEventLogs({ abi: jobMarketAbi, logs, eventName: "JobPosted" });
  const { worker, traceRoot: root } = sat.result;
  const { collateral } = world.parameters;
  return { claim: { job: posted!.args.job, worker, root, collateral }, hash };
}

/** Returns a game about a result on chain. */
export const examGame = (world: ExamClaimsWorld, sat: Sat, claim: Claim, by: Actor = world.watcher): GameDriver =>
  new GameDriver(world, sat.subject, sat.trace, claim, by);

/** Has a challenger prove the lie of a result. */
export async function refuteExam(world: ExamClaimsWorld, sat: Sat, claim: Claim, by?: Actor): Promise<GameDriver> {
  const { checkpoint, step, element } = EXAM_LIE;
  const game = await examGame(world, sat, claim, by).descend(checkpoint, step, element);
  return game.prove(element);
}
