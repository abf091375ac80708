import type { Logger } from 'pino';

type Step = () => Promise<unknown>;

/** What a start has made so far, to be taken down again: when the service ends, or when the start itself fails. */
export type Teardown = {
  /** Aborted before anything is taken down: nobody waits for anything any more. */
  readonly closing: AbortSignal;
  /** Takes down what was just made. */
  readonly add: (step: Step) => void;
  /** Of what is to stay when a service ends that ran. */
  readonly addForFailedStart: (step: Step) => void;
  readonly announce: () => void;
  /** Rejects with the first failure, when all the rest is down. */
  readonly end: () => Promise<void>;
  /** Never rejects: why the start failed is what counts. */
  readonly endFailedStart: () => Promise<void>;
};

/** Last made, first down; each step is done whatever became of the one before, or a lock would be left, or a database. */
export function createTeardown(logger: Pick<Logger, 'warn'>): Teardown {
  const closing = new AbortController();
  const steps: { readonly run: Step; readonly always: boolean }[] = [];

  async function run(wanted: readonly { readonly run: Step }[]): Promise<unknown[]> {
    closing.abort();
    const failures: unknown[] = [];
    for (const step of [...wanted].reverse()) {
      await step.run().catch((error: unknown) => {
        failures.push(error);
        logger.warn({ err: error }, 'a part of the service could not be shut down cleanly');
      });
    }
    return failures;
  }

  return {
    closing: closing.signal,
    add: (step) => void steps.push({ run: step, always: true }),
    addForFailedStart: (step) => void steps.push({ run: step, always: false }),
    announce: () => closing.abort(),
    end: async () => {
      const [first] = await run(steps.filter(({ always }) => always));
      if (first !== undefined) throw first;
    },
    endFailedStart: async () => void (await run(steps)),
  };
}
