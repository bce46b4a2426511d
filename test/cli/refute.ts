import { runCommandLine } from "../../src/cli/commandLine.ts";

/** Runs the command line in this process: exit status and what it printed. */
export async function refute(args: readonly string[], env: Record<string, string> = {}) {
  const lines: string[] = [];
  const { log, error } = console;
  const write = process.stderr.write.bind(process.stderr);
  const take = (text: unknown) => void lines.push(String(text));
  console.log = take;
  console.error = take;
  process.stderr.write = (text) => (take(text), true);
  const before = { ...process.env };
  Object.assign(process.env, env);
  try {
    const status = await runCommandLine(args);
    return { status, output: lines.join("\n") };
  } finally {
    console.log = log;
    console.error = error;
    process.stderr.write = write;
    process.env = before;
  }
}
