/** Shows how far an execution is on stderr, if that is a terminal. */
export function stepProgress(): (done: number, total: number) => void {
  if (!process.stderr.isTTY) return () => undefined;
  return (done, total) => {
    process.stderr.write(done === total ? "\r\x1b[K" : `\rstep ${done} of ${total}`);
  };
}
