import { formatEther, parseEther } from "viem";
import { FastExecutors } from "../../runs/fastExecutors.ts";
import { deposit } from "../../chain/market/deposit.ts";
import type { Session } from "../../chain/market/session.ts";
import { programTerms } from "../../program/work.ts";
import { attest } from "../../attestation/attest.ts";
import { SoftwareDevice } from "../../attestation/device.ts";
import { identify, type Identification } from "../../attestation/machine/identification.ts";
import { SoftwareManufacturer } from "../../attestation/manufacturer.ts";
import { domainOf } from "../../attestation/report.ts";
import { refusedStake } from "./refusedStake.ts";
import { fraudScene } from "./fraudScene.ts";
import { honestScene, post, TERMS } from "./honestScene.ts";
import { PICTURE, textDirectionProgram } from "./model.ts";
import { grouped, short, type Narrator } from "./narrator.ts";
import { drawText } from "./picture.ts";
import { startWatcher, type SceneContext } from "./players.ts";
import type { Figures } from "./figures.ts";
import type { Setting } from "./setting.ts";

/**
 * Plays the scenes, prints them, and gives their figures.
 * @param open Starts a chain with the protocol, which trusts the devices of a manufacturer.
 */
export async function runDemo(
  n: Narrator,
  open: (manufacturer: SoftwareManufacturer) => Promise<Setting>,
): Promise<Figures> {
  n.title("Refute: buy the output of a neural network from a stranger, and be sure of it to the last bit.");

  n.step("A chain, and the protocol on it");
  // Before the chain starts: its package may be missing.
  const program = textDirectionProgram();
  const manufacturer = new SoftwareManufacturer();
  const setting = await open(manufacturer);
  const executors = new FastExecutors();
  try {
    return await play(n, { ...setting, program, executors }, manufacturer);
  } finally {
    await executors.close();
    await setting.chain.close();
  }
}

async function play(
  n: Narrator,
  setting: Setting & Pick<SceneContext, "program" | "executors">,
  manufacturer: SoftwareManufacturer,
): Promise<Figures> {
  const { chain, program } = setting;
  const { model } = program;
  const { steps, checkpoints, maxStepGas } = model.program;
  const requester = await chain.newSession(parseEther("1"));
  const dapp = await chain.deploy("TextDirectionDapp", [chain.market, model.programRoot, TERMS.window]);
  const picture = drawText("REFUTE", PICTURE.width, PICTURE.height, 4);
  const context: SceneContext = { ...setting, picture: picture.pixels, dapp, requester };
  n.narrate(`${setting.kind} (osaka rules, at most 2^24 gas a transaction).`);
  n.narrate(`Ignition deploys market ${short(chain.market)}, vault, dispute game, step verifier and provisioning.`);
  n.narrate(
    `The model ppocr2_cls (is a line of text upright?) compiles to ${steps.length} steps, ` +
      `${checkpoints.length} checkpoints;`,
  );
  n.narrate(`whoever compiles it gets the same program root: ${short(model.programRoot)}.`);

  n.step("A worker with an endorsed device registers and stakes");
  const worker = await chain.newSession(parseEther("2"));
  const { collateral } = worker.deployment.parameters;
  const refusal = await refusedStake(worker, collateral);
  n.narrate(`Staking without a live attestation is refused by the contract: ${refusal.errorName}.`);
  const device = new SoftwareDevice(manufacturer);
  n.narrate(`The manufacturer endorses device ${short(device.id)} (a software stand-in for the dongle, P-256).`);
  const identification = await identifyFor(worker);
  const report = await attest(worker, device, identification.root);
  n.narrate(`The device signs a report of the machine, over a hash of the chain: ${describe(identification)}.`);
  await worker.vault.stake(collateral);
  n.narrate(`It verifies on chain, for ${grouped(report.receipt.gasUsed)} gas.`);
  n.narrate(`Now the worker stakes ${formatEther(collateral)} WETH.`);

  n.step("A dapp asks: is this line of text upright?");
  const asked = await post(context, picture, n);

  n.step("An honest worker");
  const watcherSession = await fundedWatcher(context);
  const watcher = startWatcher(watcherSession, context);
  const honest = await honestScene(context, worker, watcher, asked, n);

  n.step("The same job, a cheating worker");
  const cheat = await chain.newSession(parseEther("2"));
  await attest(cheat, new SoftwareDevice(manufacturer), identification.root);
  await deposit(cheat, collateral);
  await cheat.vault.stake(collateral);
  const fraud = await fraudScene(context, cheat, watcherSession, watcher, n);
  await watcher.stop();

  n.step("In one line");
  return {
    program: {
      root: model.programRoot,
      steps: steps.length,
      checkpoints: checkpoints.length,
      largestStepProofGas: maxStepGas,
      terms: grouped(programTerms(steps)),
    },
    honest,
    fraud,
    seconds: n.seconds(),
  };
}

const identifyFor = ({ deployment }: Session): Promise<Identification> => identify(domainOf(deployment));

/** The parts of a machine in a few words. */
const describe = ({ parts }: Identification): string =>
  parts.map(({ units, device }) => `${units} x ${device === "" ? "unnamed" : device}`).join(", ");

/** A watcher with credit for its bonds. */
async function fundedWatcher({ chain }: SceneContext): Promise<Session> {
  const session = await chain.newSession(parseEther("1"));
  await deposit(session, 2n * session.deployment.bond);
  return session;
}
