import { expect } from "chai";
import { HttpServer, PortError } from "../../src/base/httpServer.ts";
import { exitStatusOf, ExitStatus } from "../../src/cli/exitStatus.ts";
import { rejection } from "../../testkit/rejection.ts";

describe("a server of HTTP", () => {
  const make = () => new HttpServer((url, response) => Promise.resolve(void response.end(url)));

  it("takenPort_isAnErrorOfUsage_thatNamesThePortAndItsFlag", async () => {
    const [first, second] = [make(), make()];
    const port = await first.listen(0, "--first-port");
    const error = await rejection(second.listen(port, "--second-port"));
    expect(error).to.be.instanceOf(PortError);
    expect(error.message).to.equal(
      `port ${port} of 127.0.0.1 is taken by another process: name another one with --second-port`,
    );
    expect(exitStatusOf(error)).to.equal(ExitStatus.usage);
    await second.close();
    await first.close();
  });

  it("addressOfAnotherMachine_isAnErrorOfUsage", async () => {
    const error = await rejection(make().listen(0, "--port", "192.0.2.1"));
    expect(error.message).to.match(/at an address that this machine does not have: name another one with --port/);
  });
});
