import { expect } from "chai";
import { getAddress, zeroAddress, zeroHash, type Address, type Hex } from "viem";
import { REASONS, ReportKind, StatementScope, type Endorsement, type Statement } from "../../../src/chain/structs.ts";
import { translateError } from "../../../src/chain/translateError.ts";
import { ContractRevertError } from "../../../src/chain/errors.ts";
import { SoftwareManufacturer } from "../../../src/attestation/manufacturer.ts";
import type { ReportFields } from "../../../src/attestation/report.ts";
import { Prng } from "../../../testkit/random/prng.ts";
import { ProvisioningModel } from "../../../testkit/protocol/provisioningModel.ts";
import { domain, signedReport } from "../../../testkit/protocol/reports.ts";
import { signedStatement, TestDevice } from "../../../testkit/protocol/testDevice.ts";
import { useWorld } from "../../../testkit/protocol/useWorld.ts";
import { LIFETIME, GRID_BLOCKS } from "../../../testkit/protocol/deployWorld.ts";

const STEPS = 120;
const SEEDS = [1, 2, 3];
const FIRMWARE: readonly Hex[] = [`0x${"f1".repeat(32)}`, `0x${"f2".repeat(32)}`];

describe("Provisioning against its model", () => {
  const world = useWorld();

  for (const seed of SEEDS)
    it(`randomReportsStatementsAndTimes_seed${seed}_giveWhatTheRulesSay`, async () => {
      const { provisioning, networkHelpers, manufacturer, rival, worker, watcher, mallory, stranger } = world();
      const { time } = networkHelpers;
      const random = new Prng(seed);
      const pick = <T>(of: readonly T[]): T => random.pick(of);
      const makers = [manufacturer, rival, new SoftwareManufacturer()];
      const workers = [watcher, mallory, stranger].map(({ account }) => account.address);
      const devices = Array.from({ length: 4 }, (_, k) => new TestDevice(makers[k % 2]!, { firmware: pick(FIRMWARE) }));
      const model = new ProvisioningModel([manufacturer.id, rival.id], BigInt(GRID_BLOCKS), BigInt(LIFETIME));
      const outcomes = new Map<string, number>();

      /** Sends what the model has taken, or refused, as of the block that it is mined in. */
      const same = async (expected: string | undefined, sent: Promise<unknown>, what: string) => {
        const found = await sent.then(() => undefined, errorName);
        expect(found, what).to.equal(expected);
        outcomes.set(expected ?? "taken", (outcomes.get(expected ?? "taken") ?? 0) + 1);
      };
      const next = async () => {
        const moment = { block: BigInt(await time.latestBlock()) + 1n, time: BigInt(await time.latest()) + 1n };
        await time.setNextBlockTimestamp(moment.time);
        return moment;
      };

      const report = async (): Promise<void> => {
        const device = pick(devices);
        const by = pick(workers);
        const seq = device.seq + pick([-1n, 0n, 1n, 1n, 1n, 1n, 7n]);
        const firmware = pick([device.firmware, device.firmware, device.firmware, pick(FIRMWARE)]);
        const last = BigInt(await time.latestBlock());
        const onGrid = last - (last % BigInt(GRID_BLOCKS));
        const gridBlock = pick([onGrid, onGrid, onGrid, onGrid - BigInt(GRID_BLOCKS), onGrid - 1n, device.gridBlock]);
        const before = { seq: device.seq, gridBlock: device.gridBlock };
        const changes = { seq: seq < 0n ? 0n : seq, firmware, gridBlock };
        const { report: r, signature } = await signedReport(world(), by, device, changes);
        let endorsement: Endorsement | undefined;
        if (random.below(2) === 0) {
          const soon = BigInt(await time.latest()) + BigInt(pick([0, 2, LIFETIME / 2]));
          const notAfter = pick([soon, 2n ** 40n, 2n ** 40n]);
          endorsement = device.endorsedBy(
            pick([...makers, ...Array<SoftwareManufacturer>(5).fill(device.manufacturer)]),
            { firmware, notAfter },
          );
        }
        const { write } = provisioning;
        const expected = model.report(device.id, r, endorsement, await next());
        await same(
          expected,
          endorsement === undefined
            ? write.report([r, signature], { account: by })
            : write.enrol([endorsement, r, signature], { account: by }),
          `report ${seq} over ${gridBlock}`,
        );
        if (expected !== undefined) Object.assign(device, before);
      };
      const state = async (): Promise<void> => {
        const maker = pick(makers);
        const scope = pick([StatementScope.all, StatementScope.firmware, StatementScope.device]);
        const subject = [zeroHash, pick(FIRMWARE), pick(devices).id][scope]!;
        const statement: Statement = {
          scope,
          subject,
          frozen: random.below(3) === 0,
          number: BigInt(random.below(40)),
        };
        const expected = model.state(maker.id, statement);
        await same(expected, provisioning.write.makeStatement(signedStatement(maker, statement)), "statement");
      };
      const release = async (): Promise<void> => {
        const by = pick(workers);
        const { time: now } = await next();
        await same(model.release(by, now), provisioning.write.release({ account: by }), "release");
      };
      const retire = async (): Promise<void> => {
        const device = pick(devices);
        const fields: ReportFields = {
          ...{ nonce: zeroHash, kind: ReportKind.identification, debugStatus: 1, seq: 1n },
          ...{ worker: worker.account.address, firmware: zeroHash, body: zeroHash, aux: zeroHash },
        };
        const [a, b] = [fields, { ...fields, body: device.id }].map((payload) => ({
          ...payload,
          signature: device.sign(domain(world()), payload),
        }));
        const expected = model.retire(device.id);
        // Some go on with it all the same.
        if (random.below(2) === 0) devices[devices.indexOf(device)] = new TestDevice(pick(makers));
        await same(expected, provisioning.write.retireKey([device.key, 1n, a!, b!]), "retirement");
      };
      const wait = async (): Promise<void> => {
        await time.increase(pick([1, 60, LIFETIME / 4, LIFETIME]));
        await networkHelpers.mine(pick([1, GRID_BLOCKS, GRID_BLOCKS]));
      };

      for (let step = 0; step < STEPS; step++) {
        await pick([
          report,
          report,
          report,
          report,
          state,
          state,
          release,
          wait,
          wait,
          random.below(6) === 0 ? retire : wait,
        ])();
        const now = BigInt(await time.latest());
        for (const who of workers) {
          const [reason] = await provisioning.read.whyNotEligible([who]);
          expect(REASONS[reason], `step ${step}: ${who}`).to.equal(model.reasonOf(who, now));
        }
        for (const { id } of devices)
          expect(await provisioning.read.workerOf([id]), `step ${step}: ${id}`).to.equal(
            shown(model.workerOf(id, now)),
          );
      }
      // A sequence that is refused throughout would show nothing.
      expect(outcomes.get("taken") ?? 0).to.be.greaterThan(STEPS / 8);
      expect(outcomes.size).to.be.greaterThan(4);
    });
});

const shown = (worker: Address | undefined): Address => (worker === undefined ? zeroAddress : getAddress(worker));

/** The name of the contract's error. */
function errorName(error: unknown): string {
  const translated = translateError(error, "a call");
  return translated instanceof ContractRevertError ? translated.errorName : translated.message;
}
