/** Two words are near if at most this number of letters differ, and at least `MIN_SHARE` of the letters match. */
const MAX_DISTANCE = 3;
const MIN_SHARE = 0.6;

/** The names that are nearest to a word, all at the same distance; none if no name is near. */
export function closest(word: string, names: readonly string[]): string[] {
  const near = names
    .map((name) => ({ name, distance: editDistance(word, name) }))
    .filter(({ name, distance }) => {
      const length = Math.max(word.length, name.length);
      return distance <= MAX_DISTANCE && (length - distance) / length >= MIN_SHARE;
    });
  const min = Math.min(...near.map(({ distance }) => distance));
  return near.filter(({ distance }) => distance === min).map(({ name }) => name);
}

/** How many letters are put in, left out, replaced or swapped with the next one between two words. */
function editDistance(one: string, other: string): number {
  // The longest words of the command line have 21 letters; the matrix of a longer text would only cost memory.
  if (Math.abs(one.length - other.length) > MAX_DISTANCE) return MAX_DISTANCE + 1;
  const rows = [Array.from({ length: other.length + 1 }, (_, k) => k)];
  for (let i = 1; i <= one.length; i++) {
    const row = [i];
    for (let j = 1; j <= other.length; j++) {
      const same = one[i - 1] === other[j - 1];
      const isSwap = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      row[j] = Math.min(
        rows[i - 1]![j]! + 1,
        row[j - 1]! + 1,
        rows[i - 1]![j - 1]! + (same ? 0 : 1),
        isSwap ? rows[i - 2]![j - 2]! + 1 : Infinity,
      );
    }
    rows.push(row);
  }
  return rows[one.length]![other.length]!;
}
