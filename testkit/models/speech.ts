import { Prng } from "../random/prng.ts";

/** A signal that has what makes speech speech: a voice with pitch, vowels by their formants, hisses between them. */
export const RATE = 16_000;

/** First three formants of vowels, Hz (Peterson and Barney 1952): ah, ee, oo, eh, aw. */
const VOWELS = [
  [730, 1090, 2440],
  [270, 2290, 3010],
  [300, 870, 2240],
  [530, 1840, 2480],
  [570, 840, 2410],
] as const;
/** The fourth formant, almost constant, and the bandwidths of all formants. */
const FOURTH = 3500;
const BANDWIDTHS = [70, 90, 120, 180];
const SYLLABLE_SECONDS = 0.22;

/** Returns the voice's source at `phase` in 0 .. 1 of a period: the throat opens slowly and closes fast. */
function glottis(phase: number): number {
  if (phase < 0.4) return 0.5 * Math.sin((Math.PI * phase) / 0.4);
  return phase < 0.56 ? -1.2 * Math.sin((Math.PI * (phase - 0.4)) / 0.16) : 0;
}

/** Loudness of the voice within a syllable: it begins with a hiss. */
function loudness(u: number): number {
  if (u < 0.12) return (u / 0.12) * 0.3;
  if (u < 0.2) return 0.3 + ((u - 0.12) / 0.08) * 0.7;
  return u > 0.85 ? (1 - u) / 0.15 : 1;
}

/** Syllables without words, mono, 16 kHz, about -1 .. 1. */
export function speech(seconds: number): Float32Array {
  const prng = new Prng(1);
  const noise = (): number => prng.uint32() / 2 ** 31 - 1;
  const filters = BANDWIDTHS.map(() => [0, 0]);
  let phase = 0;
  return Float32Array.from({ length: Math.round(seconds * RATE) }, (_, i) => {
    const t = i / RATE;
    const k = Math.floor(t / SYLLABLE_SECONDS);
    const u = t / SYLLABLE_SECONDS - k;
    const [vowel, next] = [VOWELS[k % VOWELS.length]!, VOWELS[(k + 1) % VOWELS.length]!];
    const glide = Math.max(0, (u - 0.6) / 0.4);
    const formants = [...vowel.map((f, j) => f * (1 - glide) + next[j]! * glide), FOURTH];
    phase = (phase + (120 + 15 * Math.sin(5.7 * t) + 8 * Math.sin(14.5 * t) - 10 * ((t / 2) % 1)) / RATE) % 1;
    let sample = (glottis(phase) + 0.02 * noise()) * loudness(u);
    formants.forEach((frequency, j) => {
      const radius = Math.exp((-Math.PI * BANDWIDTHS[j]!) / RATE);
      const [a, b] = [2 * radius * Math.cos((2 * Math.PI * frequency) / RATE), -radius * radius];
      const filter = filters[j]!;
      sample = (1 - a - b) * sample + a * filter[0]! + b * filter[1]!;
      filters[j] = [sample, filter[0]!];
    });
    const hiss = u < 0.12 ? 0.05 * noise() * (1 - Math.abs(u - 0.06) / 0.06) : 0;
    return 0.35 * sample + hiss;
  });
}
