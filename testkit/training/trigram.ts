/**
 * The loss of a trigram model on a held-out text: each character is guessed from the two characters before. Counts of
 * three characters are smoothed by counts of two, counts of two by counts of one, and counts of one by equal chances
 * (absolute discounting). The discount is the best discount on the held-out text, which favours the trigram model.
 */
const DISCOUNTS = Array.from({ length: 19 }, (_, k) => (k + 1) / 20);

/** Counts of characters after a context. */
type Counts = { total: number; of: Map<number, number> };

/** How often each character follows each context of `length` characters. */
function countsOf(text: Uint8Array, length: number): Map<number, Counts> {
  const counts = new Map<number, Counts>();
  for (let at = length; at < text.length; at++) {
    const context = contextAt(text, at, length);
    const own = counts.get(context) ?? { total: 0, of: new Map<number, number>() };
    counts.set(context, own);
    own.total++;
    own.of.set(text[at]!, (own.of.get(text[at]!) ?? 0) + 1);
  }
  return counts;
}

/** The `length` characters before a place as one number. */
function contextAt(text: Uint8Array, at: number, length: number): number {
  let context = 0;
  for (let back = length; back > 0; back--) context = 256 * context + text[at - back]!;
  return context;
}

/** The mean loss of a character in nats, of the best discount. @param from The first place that is guessed. */
export function trigramLoss(
  training: Uint8Array,
  heldOut: Uint8Array,
  characters: number,
  from = 2,
): { loss: number; discount: number } {
  const orders = [0, 1, 2].map((length) => countsOf(training, length));
  const lossOf = (discount: number): number => {
    let loss = 0;
    for (let at = from; at < heldOut.length; at++) {
      let chance = 1 / characters;
      orders.forEach((counts, length) => {
        const seen = counts.get(contextAt(heldOut, at, length));
        if (seen === undefined) return;
        const own = Math.max((seen.of.get(heldOut[at]!) ?? 0) - discount, 0);
        chance = (own + discount * seen.of.size * chance) / seen.total;
      });
      loss -= Math.log(chance);
    }
    return loss / (heldOut.length - from);
  };
  const all = DISCOUNTS.map((discount) => ({ discount, loss: lossOf(discount) }));
  return all.reduce((best, each) => (each.loss < best.loss ? each : best));
}
