/**
 * Lets all who ask at about the same time have one answer.
 * @param read Reads what is asked for.
 * @returns Gives an answer that was asked for at `notBefore` or later (milliseconds of `performance.now`). A failed
 *   answer is given to those who wait for the answer, and to nobody else.
 */
export function sharedRead<T>(read: () => Promise<T>): (notBefore: number) => Promise<T> {
  let last: { since: number; answer: Promise<T> } | undefined;
  return (notBefore) => {
    if (last !== undefined && last.since >= notBefore) return last.answer;
    const asked = { since: performance.now(), answer: read() };
    last = asked;
    asked.answer.catch(() => {
      if (last === asked) last = undefined;
    });
    return asked.answer;
  };
}
