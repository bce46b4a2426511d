import { Prng } from "../../../../src/base/prng.ts";

/** A class needs 12 passed exams among the last 16, see contracts/attestation/Exams.sol. */
const EXAMS = 16;
const PASSES = 12;

/** How devices share cards, and what happens to their reports. Times are parts of T. */
export type Setting = {
  /** Devices on one card. */
  devices: number;
  /** One device's task time on the card. */
  task: number;
  /** Mean time until a report is in a block; it is exponential. */
  delay: number;
  /** The time added by the way between device and card, each time. */
  relay: number;
  /** The share of exams missed by a device for its own reasons. */
  away: number;
  /** True if all devices sit the same exams. Otherwise each device has separate exams, at other times. */
  isShared: boolean;
};

/** An honest device's setting: a card per device. */
export const HONEST: Setting = { devices: 1, task: 0.6, delay: 0.05, relay: 0, away: 0.02, isShared: true };

/**
 * Returns the share of time in which a device holds the class, over all devices on a card. The cheat serves the optimal
 * number of devices.
 * @param rounds The number of simulated exams.
 */
export function heldShare(setting: Setting, rounds: number, seed: number): number {
  const choices = Array.from({ length: setting.devices }, (_, k) => heldDevices(setting, k + 1, rounds, seed));
  return Math.max(...choices) / setting.devices;
}

/** How many devices hold the class, on average, if so many are served: those that passed least first. */
function heldDevices(setting: Setting, served: number, rounds: number, seed: number): number {
  const random = new Prng(seed);
  const records = Array.from({ length: served }, () => 0);
  let held = 0;
  for (let round = 0; round < rounds; round++) {
    const order = [...records.keys()].sort((a, b) => popcount(records[a]!) - popcount(records[b]!) || a - b);
    order.forEach((device, place) => {
      // With exams at other times, each device has the card for itself.
      const passes = isInTime(setting, setting.isShared ? place : 0, random);
      records[device] = ((records[device]! << 1) | Number(passes)) & ((1 << EXAMS) - 1);
    });
    // No record is full before.
    if (round >= EXAMS) held += records.filter((record) => popcount(record) >= PASSES).length;
  }
  return held / (rounds - EXAMS);
}

/** Returns true if a device's report is in a block within T. The card serves the device at position `place`. */
function isInTime({ task, delay, relay, away }: Setting, place: number, random: Prng): boolean {
  const wait = -delay * Math.log(1 - unit(random));
  return unit(random) >= away && (place + 1) * task + relay + wait <= 1;
}

/**
 * Returns the share of exams in a builder's blocks, if the builder makes each own block on the grid an exam: a builder
 * can choose a block's hash.
 * @param share The share of blocks made by the builder.
 * @param odds One in `odds` blocks by others is an exam.
 */
export const chosenShare = (share: number, odds: number): number => share / (share + (1 - share) / odds);

/**
 * Returns the share of time with the class, for a holder with a card free part of the time and with a share of the
 * blocks: the holder makes exams when the card is free.
 */
export function partTimeShare(free: number, share: number, odds: number): number {
  const passed = chosenShare(share, odds) + (1 - chosenShare(share, odds)) * free;
  let sum = 0;
  for (let k = PASSES; k <= EXAMS; k++) sum += choose(EXAMS, k) * passed ** k * (1 - passed) ** (EXAMS - k);
  return sum;
}

const unit = (random: Prng): number => random.uint32() / 2 ** 32;

const choose = (n: number, k: number): number => (k === 0 ? 1 : (choose(n, k - 1) * (n - k + 1)) / k);

function popcount(bits: number): number {
  let count = 0;
  for (let rest = bits; rest !== 0; rest &= rest - 1) count++;
  return count;
}
