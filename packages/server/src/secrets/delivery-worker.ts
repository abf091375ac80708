import { deliverSecrets } from './deliver.ts';

export type DeliveryWorker = {
  /** Looks at what is due, once more after a look that is going on. */
  readonly kick: () => void;
  readonly close: () => Promise<void>;
};

const everyMilliseconds = 1_000;

/** Delivers what is due in the region of this host: when it is told of something, and each second what was left behind. */
export function startDeliveryWorker(context: Parameters<typeof deliverSecrets>[0]): DeliveryWorker {
  let running: Promise<void> | null = null;
  let again = false;
  let closed = false;

  async function look(): Promise<void> {
    do {
      again = false;
      try {
        await deliverSecrets(context);
      } catch (error) {
        context.logger.warn({ err: error }, 'secrets could not be delivered; it is tried again');
      }
    } while (again && !closed);
    running = null;
  }

  function kick(): void {
    again = true;
    if (!closed) running ??= look();
  }

  const timer = setInterval(kick, everyMilliseconds);
  kick();
  return {
    kick,
    close: async () => {
      closed = true;
      clearInterval(timer);
      await running;
    },
  };
}
