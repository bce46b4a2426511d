import { Prng } from "../../../../src/base/prng.ts";

/** A class is held by 12 of the last 16 exams, as in contracts/attestation/Exams.sol. */
const EXAMS = 16;
const PASSES = 12;

/** How devices share cards, and what happens to their reports. Times are parts of T. */
export type Setting = {
  /** Devices on one card. */
  devices: number;
  /** What one device's task takes on the card. */
  task: number;
  /** Mean time until a report is in a block; it is exponential. */
  delay: number;
  /** What the way between the device and the card adds, each time. */
  relay: number;
  /** The part of exams at which a device is away, for reasons of its own. */
  away: number;
  /** Whether all devices sit the same exams. Otherwise each has exams of its own, at other times. */
  isShared: boolean;
};

/** What an honest device has: a card of its own. */
export const HONEST: Setting = { devices: 1, task: 0.6, delay: 0.05, relay: 0, away: 0.02, isShared: true };

/**
 * The share of time in which a device holds the class, over all devices of a card. The cheat serves the number of
 * devices that suits it best.
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

/** Whether the report of the device that the card serves as number `place` is in a block within T. */
function isInTime({ task, delay, relay, away }: Setting, place: number, random: Prng): boolean {
  const wait = -delay * Math.log(1 - unit(random));
  return unit(random) >= away && (place + 1) * task + relay + wait <= 1;
}

/**
 * The part of exams whose block a builder made, if it makes each of its blocks on the grid an exam: a block's hash can
 * be chosen by whoever builds it.
 * @param share Of the blocks that it builds. @param odds One of so many blocks of the others is an exam.
 */
export const chosenShare = (share: number, odds: number): number => share / (share + (1 - share) / odds);

/**
 * The part of the time at which somebody holds the class whose card is free a part of the time only, and who builds a
 * share of the blocks: it makes exams when the card is free.
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
