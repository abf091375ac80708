import { type PollingLoop, startPollingLoop } from '../concurrency/polling-loop.ts';
import { deliverSecrets } from './deliver.ts';

/** Delivers what is due in the region of this host: when it is told of something, and each second what was left behind. */
export function startDeliveryWorker(context: Parameters<typeof deliverSecrets>[0]): PollingLoop {
  return startPollingLoop(
    () => deliverSecrets(context),
    (error) => context.logger.warn({ err: error }, 'secrets could not be delivered; trying again'),
  );
}
