import type { Command } from "commander";
import type { Output } from "../output.ts";
import { own } from "./own.ts";

type Load = () => Promise<(output: Output) => Command>;

/** A word on the command line: a command, a noun with subcommands, or both (`deploy`). */
export type Word = {
  /** For lists of words, in one line; the help of the command says more. */
  about: string;
  load?: Load;
  /** The arguments for a word that takes arguments without being a command (`help`). */
  usage?: string;
  commands?: Record<string, Word>;
  /** Other commands about the same noun, for its help. */
  related?: readonly string[];
};

/** The group of what most users never need. */
export const EXTRAS = "Extras";

/** The words of the command line by group, in the order of the help. A command is loaded when it is needed. */
export const WORDS: Record<string, Record<string, Word>> = {
  Models: {
    check: {
      about: "say whether a model can be served, and what it costs",
      load: async () => (await import("../commands/check.ts")).checkCommand,
    },
    run: {
      about: "execute a model exactly; --compare it with onnxruntime",
      load: async () => (await import("../commands/run.ts")).runCommand,
    },
    model: {
      about: "a model file",
      related: ["check", "run"],
      commands: {
        train: {
          about: "train a model exactly: the items of a run update its weights",
          load: async () => (await import("../commands/model/train.ts")).trainCommand,
        },
        audit: {
          about: "have the step verifier judge drawn elements of an execution",
          load: async () => (await import("../commands/model/audit.ts")).auditCommand,
        },
        compile: {
          about: "show the program of a model: root, steps, largest step proof",
          load: async () => (await import("../commands/model/compile.ts")).compileCommand,
        },
        calibrate: {
          about: "measure how far native execution lies from exact execution",
          load: async () => (await import("../commands/model/calibrate.ts")).calibrateCommand,
        },
        conform: {
          about: "run ONNX backend test cases",
          load: async () => (await import("../commands/model/conform.ts")).conformCommand,
        },
      },
    },
  },
  Jobs: {
    submit: {
      about: "post a job: a model, its inputs and a fee",
      load: async () => (await import("../commands/submit.ts")).submitCommand,
    },
    result: {
      about: "show the result of a job, or wait for it",
      load: async () => (await import("../commands/result.ts")).resultCommand,
    },
    status: {
      about: "show a deployment, a job or an account",
      load: async () => (await import("../commands/status.ts")).statusCommand,
    },
    job: {
      about: "jobs",
      related: ["submit", "result", "status JOB"],
      commands: {
        quote: {
          about: "say what a job of a model costs now",
          load: async () => (await import("../commands/job/quote.ts")).quoteCommand,
        },
        list: {
          about: "list the jobs of an account",
          load: async () => (await import("../commands/job/list.ts")).listCommand,
        },
        pack: {
          about: "write the inputs of a job as one file, for submit --reference",
          load: async () => (await import("../commands/job/pack.ts")).packCommand,
        },
        dispatch: {
          about: "split a large batch into jobs, and collect the outputs",
          load: async () => (await import("../commands/job/dispatch.ts")).dispatchCommand,
        },
        train: {
          about: "train a model over many workers, each with a share of every batch",
          load: async () => (await import("../commands/job/train.ts")).trainCommand,
        },
        cancel: {
          about: "take back a job that no worker has claimed",
          load: async () => (await import("../commands/job/cancel.ts")).cancelCommand,
        },
        expire: {
          about: "free a job whose worker is late, or close one that nobody took",
          load: async () => (await import("../commands/job/expire.ts")).expireCommand,
        },
        redeliver: {
          about: "call a contract again whose callback failed",
          load: async () => (await import("../commands/job/redeliver.ts")).redeliverCommand,
        },
        reclaim: {
          about: "return the fee of a job whose outputs were not delivered",
          load: async () => (await import("../commands/job/reclaim.ts")).reclaimCommand,
        },
        canary: {
          about: "post jobs over real data at random times, from a purse",
          load: async () => (await import("../commands/job/canary.ts")).canaryCommand,
        },
      },
    },
  },
  Serving: {
    worker: {
      about: "serve jobs for fees, until stopped",
      load: async () => (await import("../commands/worker.ts")).workerCommand,
    },
    watcher: {
      about: "check results and dispute wrong ones, until stopped",
      load: async () => (await import("../commands/watcher.ts")).watcherCommand,
    },
    account: {
      about: "money and record",
      related: ["status --account ADDRESS"],
      commands: {
        key: {
          about: "write a keystore file: a new key, or one that exists",
          load: async () => (await import("../commands/account/key.ts")).keyCommand,
        },
        deposit: {
          about: "move stake asset into the vault, as credit",
          load: async () => (await import("../commands/account/deposit.ts")).depositCommand,
        },
        stake: {
          about: "turn credit into stake",
          load: async () => (await import("../commands/account/stake.ts")).stakeCommand,
        },
        unstake: {
          about: "ask stake back, and turn it into credit once it is ready",
          load: async () => (await import("../commands/account/unstake.ts")).unstakeCommand,
        },
        withdraw: {
          about: "send credit to an address, as stake asset",
          load: async () => (await import("../commands/account/withdraw.ts")).withdrawCommand,
        },
        workers: {
          about: "list the workers of a market, with stake and record",
          load: async () => (await import("../commands/account/workers.ts")).workersCommand,
        },
      },
    },
    device: {
      about: "a worker's device",
      related: ["tdx", "deploy tdx"],
      commands: {
        identify: {
          about: "show what an attestation would report of this machine",
          load: async () => (await import("../commands/device/identify.ts")).identifyCommand,
        },
        attest: {
          about: "have the device report what this machine is, once",
          load: async () => (await import("../commands/device/attest.ts")).attestCommand,
        },
        release: {
          about: "give the device up, so that another worker can use it",
          load: async () => (await import("../commands/device/release.ts")).releaseCommand,
        },
        dongle: {
          about: "development only: a process in place of a device",
          load: async () => (await import("../commands/device/dongle.ts")).dongleCommand,
        },
        gpus: {
          about: "list the GPUs that refute run --device can name",
          load: async () => (await import("../commands/device/gpus.ts")).gpusCommand,
        },
        "stand-in": {
          about: "development only: a folder in place of a device",
          load: async () => (await import("../commands/device/standIn.ts")).standInCommand,
        },
        "stand-in-manufacturer": {
          about: "development only: a file in place of a manufacturer",
          load: async () => (await import("../commands/device/standInManufacturer.ts")).standInManufacturerCommand,
        },
      },
    },
  },
  Markets: {
    devnet: {
      about: "start a market on this machine, to try things",
      load: async () => (await import("../commands/devnet.ts")).devnetCommand,
      commands: {
        demo: {
          about: "play a story: an honest job, then a cheating worker",
          load: async () => (await import("../commands/demo.ts")).demoCommand,
        },
      },
    },
    deploy: {
      about: "deploy a market",
      load: async () => (await import("../commands/deploy/market.ts")).deployCommand,
      commands: {
        exams: {
          about: "deploy exams of a market's workers",
          load: async () => (await import("../commands/deploy/exams.ts")).deployExamsCommand,
        },
        tickets: {
          about: "deploy pledged claims and lottery tickets",
          load: async () => (await import("../commands/deploy/tickets.ts")).deployTicketsCommand,
        },
        panel: {
          about: "deploy panels",
          load: async () => (await import("../commands/deploy/panel.ts")).deployPanelCommand,
        },
        validator: {
          about: "deploy a validator for ERC-8004",
          load: async () => (await import("../commands/deploy/validator.ts")).deployValidatorCommand,
        },
        tdx: {
          about: "deploy a verifier of quotes of Intel TDX",
          load: async () => (await import("../commands/deploy/tdx.ts")).deployTdxCommand,
        },
      },
    },
  },
  [EXTRAS]: {
    panel: {
      about: "one question to several workers",
      related: ["deploy panel"],
      commands: {
        post: {
          about: "ask several workers, none of whom sees the others' answers",
          load: async () => (await import("../commands/panel/post.ts")).postCommand,
        },
        result: {
          about: "show a panel, or follow it to its end",
          load: async () => (await import("../commands/panel/result.ts")).resultCommand,
        },
      },
    },
    tickets: {
      about: "answers off chain, paid by lottery tickets",
      related: ["deploy tickets"],
      commands: {
        serve: {
          about: "answer over HTTP with signed claims, until stopped",
          load: async () => (await import("../commands/tickets/serve.ts")).serveCommand,
        },
        ask: {
          about: "ask a worker's endpoint, and pay with a ticket",
          load: async () => (await import("../commands/tickets/ask.ts")).askCommand,
        },
        pledge: {
          about: "lock a collateral behind the claims that this account signs",
          load: async () => (await import("../commands/tickets/pledge.ts")).pledgeCommand,
        },
        unpledge: {
          about: "ask the pledge back, and unlock it later",
          load: async () => (await import("../commands/tickets/unpledge.ts")).unpledgeCommand,
        },
        deposit: {
          about: "add to this account's deposit for a worker",
          load: async () => (await import("../commands/tickets/deposit.ts")).depositCommand,
        },
        withdraw: {
          about: "ask a part of a deposit back, and take it later",
          load: async () => (await import("../commands/tickets/withdraw.ts")).withdrawCommand,
        },
        earnings: {
          about: "send what this worker's winning tickets earned to an address",
          load: async () => (await import("../commands/tickets/earnings.ts")).earningsCommand,
        },
      },
    },
    exam: {
      about: "timed exams of workers",
      related: ["deploy exams"],
      commands: {
        classes: {
          about: "show the classes of exams, and which of them a worker holds",
          load: async () => (await import("../commands/exam/classes.ts")).classesCommand,
        },
        rehearse: {
          about: "say which exams this machine would pass",
          load: async () => (await import("../commands/exam/rehearse.ts")).rehearseCommand,
        },
      },
    },
    tdx: {
      about: "what Intel signs about TDX platforms",
      related: ["deploy tdx", "device attest --tdx ADDRESS"],
      commands: {
        status: {
          about: "show what a platform's quotes need, and what of it is short",
          load: async () => (await import("../commands/tdx/status.ts")).statusCommand,
        },
        bring: {
          about: "bring to the chain what it lacks, from files",
          load: async () => (await import("../commands/tdx/bring.ts")).bringCommand,
        },
      },
    },
    fleet: {
      about: "other machines that execute for a worker",
      commands: {
        executor: {
          about: "execute jobs for workers and watchers, until stopped",
          load: async () => (await import("../commands/fleet/executor.ts")).executorCommand,
        },
      },
    },
    zk: {
      about: "proofs of small programs",
      commands: {
        check: {
          about: "say what a proof of a model's result takes, or why none exists",
          load: async () => (await import("../commands/zk/check.ts")).checkCommand,
        },
        setup: {
          about: "make keys for a model, for tests or to begin a ceremony",
          load: async () => (await import("../commands/zk/setup.ts")).setupCommand,
        },
        contribute: {
          about: "check a key of a ceremony, and add a secret of this machine",
          load: async () => (await import("../commands/zk/contribute.ts")).contributeCommand,
        },
        prove: {
          about: "execute a model, and prove that its outputs are right",
          load: async () => (await import("../commands/zk/prove.ts")).proveCommand,
        },
        verify: {
          about: "check that a proof, or a key from a ceremony, is of a model",
          load: async () => (await import("../commands/zk/verify.ts")).verifyCommand,
        },
      },
    },
    text: {
      about: "texts as applications buy them",
      related: ["tickets serve", "devnet --text", "deploy validator"],
      commands: {
        gateway: {
          about: "sell applications texts bought in signed blocks, until stopped",
          load: async () => (await import("../commands/text/gateway.ts")).gatewayCommand,
        },
        key: {
          about: "make an API key of a gateway",
          load: async () => (await import("../commands/text/key.ts")).keyCommand,
        },
        receipt: {
          about: "verify the receipt of a text, or refute a lie in it",
          load: async () => (await import("../commands/text/receipt.ts")).receiptCommand,
        },
        validate: {
          about: "have a claim of a receipt validated for an agent",
          load: async () => (await import("../commands/text/validate.ts")).validateCommand,
        },
      },
    },
  },
  Help: {
    config: {
      about: "show which settings a command would take, and from where",
      load: async () => (await import("../commands/config.ts")).configCommand,
    },
    help: {
      about: "show the help of a command",
      usage: "[COMMAND [SUBCOMMAND]]",
      commands: {
        completion: {
          about: "print a script with which a shell completes words and flags",
          load: async () => (await import("../commands/help/completion.ts")).completionCommand,
        },
      },
    },
  },
};

/** The words that can follow `refute`. */
export const topWords = (): string[] => Object.values(WORDS).flatMap(Object.keys);

/** Returns all commands, each as the words after `refute`, in the help's order. */
export const allCommands = (): string[][] =>
  Object.values(WORDS).flatMap((group) =>
    Object.entries(group).flatMap(([name, { load, commands = {} }]) => [
      ...(load === undefined ? [] : [[name]]),
      ...Object.keys(commands).map((part) => [name, part]),
    ]),
  );

/** A word at the top; undefined if there is none of the name. */
export const topWord = (name: string): Word | undefined =>
  Object.values(WORDS)
    .map((group) => own(group, name))
    .find((word) => word !== undefined);
