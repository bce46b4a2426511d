import { parseEventLogs, type Address, type Hex } from "viem";
import { jobMarketAbi } from "../../src/chain/abi/jobMarket.ts";
import type { Claim, Sitting } from "../../src/chain/structs.ts";
import { MerkleList } from "../../src/program/merkle/list.ts";
import { tensorRoot } from "../../src/program/merkle/tensor.ts";
import type { Trace } from "../../src/program/trace/trace.ts";
import { chainProgram, honestTrace, lyingTrace, type GameProgram } from "./chainProgram.ts";
import { CLASS_BLOCKS, deployExams, examNonce, nextExam, sit, sittingOf, type ExamsContract } from "./examKit.ts";
import { GameDriver } from "./gameDriver.ts";
import { createPledgeWorld } from "./pledgeWorld.ts";
import { attest } from "./reports.ts";
import { TestDevice } from "./testDevice.ts";
import { factsOf } from "./world.ts";
import type { Actor, World } from "./deployWorld.ts";

/** How long after a sitting it can be challenged, seconds. */
export const EXAM_LIFETIME = 86_400;

/**
 * Programs of the zoo. The first has 9 steps in 3 ranges. The input of the first two has 32 bytes, as a seed has; that
 * of the last is too long: a deployer's mistake.
 */
export const EXAM_PROGRAMS = [chainProgram(8, [3, 1, 5]), chainProgram(8, [2]), chainProgram(9, [2])] as const;
export const EXAM_CLASSES = EXAM_PROGRAMS.map(({ commitment }, k) => ({
  programRoot: commitment.programRoot,
  blocks: CLASS_BLOCKS[k === 0 ? 0 : 1],
}));

/** Of the first program: where liars lie, with the checkpoint of that step. */
export const EXAM_LIE = { step: 6, element: 5, checkpoint: 2 };

const deployExamClaims = ({ viem }: Pick<World, "viem">, exams: Address, claims: Address) =>
  viem.deployContract("ExamClaims", [exams, claims]);

/**
 * A world of pledged claims (`createPledgeWorld`) whose worker sits exams with a device of its own, and has pledged,
 * but is not enrolled.
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

/** A sitting with what was executed for it. */
export type Sat = { sitting: Sitting; subject: GameProgram; trace: Trace };

/** A program with the bytes of a seed as its input. */
function onSeed(subject: GameProgram, nonce: Hex): GameProgram {
  const input = Buffer.from(nonce.slice(2), "hex");
  return { ...subject, input, inputsList: MerkleList.fromHashes([tensorRoot(input)]) };
}

/** Who sits an exam and how: the world's worker in the first class, honestly, in the next exam, unless said. */
type SittingOptions = {
  by?: Address;
  device?: TestDevice;
  class?: number;
  lies?: boolean;
  gridBlock?: bigint;
};

/** Has a worker execute a class's program on its seed and report the trace's root, which is wrong if it lies. */
export async function satExam(world: ExamClaimsWorld, options: SittingOptions = {}): Promise<Sat> {
  const { by = world.worker.account.address, device = world.device, class: k = 0, lies = false } = options;
  const gridBlock = options.gridBlock ?? (await nextExam(world, world.exams));
  const program = EXAM_PROGRAMS[k]!;
  const nonce = await examNonce(world, by, device, gridBlock);
  const subject = program.input.length === 32 ? onSeed(program, nonce) : program;
  const trace = lies ? lyingTrace(subject, EXAM_LIE.step, EXAM_LIE.element) : honestTrace(subject);
  const hash = await sit(world, world.exams, by, device, { gridBlock, class: k, traceRoot: trace.root }, EXAM_CLASSES);
  return { sitting: await sittingOf(world, world.exams, hash), subject, trace };
}

/** What `challenge` takes of a sitting. */
export const challengeArgs = ({ sitting, subject }: Sat) => [sitting, factsOf(subject.commitment)] as const;

/** Has somebody put a sitting on chain. @returns its claim, and the transaction */
export async function challenged(
  world: ExamClaimsWorld,
  sat: Sat,
  by: Actor = world.watcher,
): Promise<{ claim: Claim; hash: Hex }> {
  const hash = await world.examClaims.write.challenge([...challengeArgs(sat)], { account: by.account });
  const { logs } = await world.client.getTransactionReceipt({ hash });
  const [posted] = parseEventLogs({ abi: jobMarketAbi, logs, eventName: "JobPosted" });
  const { worker, traceRoot: root } = sat.sitting;
  const { collateral } = world.parameters;
  return { claim: { job: posted!.args.job, worker, root, collateral }, hash };
}

/** A game about a sitting that is on chain. */
export const examGame = (world: ExamClaimsWorld, sat: Sat, claim: Claim, by: Actor = world.watcher): GameDriver =>
  new GameDriver(world, sat.subject, sat.trace, claim, by);

/** Has a challenger prove the lie of a sitting. */
export async function refuteExam(world: ExamClaimsWorld, sat: Sat, claim: Claim, by?: Actor): Promise<GameDriver> {
  const { checkpoint, step, element } = EXAM_LIE;
  const game = await examGame(world, sat, claim, by).descend(checkpoint, step, element);
  return game.prove(element);
}
