/** Shows how far a command is on stderr, if that is a terminal. @param what What is counted. */
export function stepProgress(what = "step"): (done: number, total: number) => void {
  if (!process.stderr.isTTY) return () => undefined;
  return (done, total) => {
    process.stderr.write(done === total ? "\r\x1b[K" : `\r${what} ${done} of ${total}`);
  };
}
