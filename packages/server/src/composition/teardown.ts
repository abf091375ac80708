import type { Logger } from 'pino';

type Step = () => Promise<unknown>;

/** Collects the steps that undo the start of the service. The steps run at shutdown or after a failed start. */
export type Teardown = {
  /** Signal that aborts before the first teardown step runs, so that waiting code ends. */
  readonly closing: AbortSignal;
  /** Adds the step that undoes what the caller has just done. */
  readonly add: (step: Step) => void;
  /** Adds a step that runs only if the start fails. */
  readonly addForFailedStart: (step: Step) => void;
  readonly announce: () => void;
  /** Runs all steps except those of `addForFailedStart`. Rejects with the error of the step that failed first. */
  readonly end: () => Promise<void>;
  /** Runs all steps after a failed start. Never rejects, because the error of the start matters more. */
  readonly endFailedStart: () => Promise<void>;
};

/** Runs all steps in reverse order, even if one fails, so that every lock is released and every process is ended. */
export function createTeardown(logger: Pick<Logger, 'warn'>): Teardown {
  const closing = new AbortController();
  const steps: { readonly run: Step; readonly always: boolean }[] = [];

  async function run(stepsToRun: readonly { readonly run: Step }[]): Promise<unknown[]> {
    closing.abort();
    const failures: unknown[] = [];
    for (const step of [...stepsToRun].reverse()) {
      await step.run().catch((error: unknown) => {
        failures.push(error);
        logger.warn({ err: error }, 'shutdown step failed');
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
