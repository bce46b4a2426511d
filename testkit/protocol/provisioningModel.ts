import { zeroHash, type Address, type Hex } from "viem";
import { StatementScope, type Endorsement, type Reason, type Report, type Statement } from "../../src/chain/structs.ts";
import { manufacturerId } from "../../src/attestation/keys.ts";

/** A device as the model knows it. */
type Device = {
  endorsement: Endorsement;
  worker: Address | undefined;
  seq: bigint;
  gridBlock: bigint;
  /** Unix time. */
  until: bigint;
};

type Standing = { number: bigint; frozen: boolean };

const DAY = 86_400n;

/** When a call is mined. */
type Moment = { block: bigint; time: bigint };

/**
 * The result of attestations, derived from the rules alone (docs/protocol.md, "Attestation"). The model keeps every
 * lease as a plain entry, and checks each question against all leases. The model assumes valid signatures.
 */
export class ProvisioningModel {
  readonly #devices = new Map<Hex, Device>();
  readonly #retired = new Set<Hex>();
  readonly #standings = new Map<string, Standing>();

  readonly manufacturers: readonly Hex[];
  readonly gridBlocks: bigint;
  readonly lifetime: bigint;

  /** @param lifetime Seconds. */
  constructor(manufacturers: readonly Hex[], gridBlocks: bigint, lifetime: bigint) {
    this.manufacturers = manufacturers;
    this.gridBlocks = gridBlocks;
    this.lifetime = lifetime;
  }

  /** Takes a report, with or without an endorsement. @returns The name of the refusing error. */
  report(id: Hex, r: Report, endorsement: Endorsement | undefined, { block, time }: Moment): string | undefined {
    const known = this.#devices.get(id);
    const given = endorsement ?? known?.endorsement;
    if (given === undefined) return "NotEnrolled";
    if (given.firmware !== r.firmware) return "WrongFirmware";
    if (!this.manufacturers.includes(manufacturerId(given.manufacturer))) return "ManufacturerNotTrusted";
    if (time > given.notAfter) return "EndorsementIsOver";
    if (r.seq <= (known?.seq ?? 0n)) return "SeqNotHigher";
    if (r.gridBlock <= (known?.gridBlock ?? 0n)) return "BlockNotNewer";
    if (this.#retired.has(id)) return "KeyIsRetired";
    if (known !== undefined && known.worker !== r.worker && time <= leaseEnd(known)) return "DeviceBacksAnother";
    if (r.gridBlock % this.gridBlocks !== 0n) return "OffGrid";
    if (r.gridBlock >= block || block - r.gridBlock > 256n) return "BlockOutOfReach";
    if (known?.worker !== r.worker) this.release(r.worker, time);
    const { seq, gridBlock, worker } = r;
    this.#devices.set(id, {
      endorsement: given,
      worker,
      seq,
      gridBlock,
      until: time + this.lifetime,
    });
    return undefined;
  }

  /**
   * Ends a worker's lease. The device is free a day later.
   * @param time Now.
   * @returns The error's name, if the worker has no lease
   */
  release(worker: Address, time: bigint): string | undefined {
    const held = [...this.#devices.values()].filter((device) => device.worker === worker);
    for (const device of held) {
      device.worker = undefined;
      if (device.until > time + DAY) device.until = time + DAY;
    }
    return held.length === 0 ? "NoLease" : undefined;
  }

  /** Takes a statement. @returns The name of the refusing error. */
  state(maker: Hex, { scope, subject, frozen, number }: Statement): string | undefined {
    if (!this.manufacturers.includes(maker)) return "ManufacturerNotTrusted";
    const key = `${maker} ${scope} ${subject}`;
    if (number <= (this.#standings.get(key)?.number ?? 0n)) return "NumberNotHigher";
    this.#standings.set(key, { number, frozen });
    return undefined;
  }

  /** Retires a key. @returns The name of the refusing error. */
  retire(id: Hex): string | undefined {
    if (this.#retired.has(id)) return "KeyIsRetired";
    this.#retired.add(id);
    return undefined;
  }

  /** Whom a device backs. @param time Now. */
  workerOf(id: Hex, time: bigint): Address | undefined {
    const device = this.#devices.get(id);
    return device !== undefined && time <= leaseEnd(device) ? device.worker : undefined;
  }

  /** Returns the reason why a worker may not stake and claim, or the permission. @param time Now. */
  reasonOf(worker: Address, time: bigint): Reason {
    const [held] = [...this.#devices].filter(([, device]) => device.worker === worker);
    if (held === undefined) return "noDevice";
    const [id, { endorsement, until }] = held;
    if (this.#retired.has(id)) return "keyRetired";
    const maker = manufacturerId(endorsement.manufacturer);
    const frozen = (scope: StatementScope, subject: Hex): boolean =>
      this.#standings.get(`${maker} ${scope} ${subject}`)?.frozen === true;
    if (frozen(StatementScope.device, id)) return "deviceFrozen";
    if (frozen(StatementScope.firmware, endorsement.firmware)) return "firmwareFrozen";
    if (frozen(StatementScope.all, zeroHash)) return "manufacturerFrozen";
    if (time > endorsement.notAfter) return "endorsementExpired";
    return time > until ? "reportExpired" : "eligible";
  }
}

const leaseEnd = ({ until, endorsement }: Device): bigint =>
  until < endorsement.notAfter ? until : endorsement.notAfter;
