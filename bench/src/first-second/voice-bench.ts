import type { BenchOptions, Figure } from '../figure.ts';
import type { Service } from '../service.ts';
import type { BotByHand, BotByHandOptions } from './by-hand.ts';
import type { WebCaller } from './web-caller.ts';

/** Names of two agents with the same generated bot: one has forked instances, the other spawned ones. */
export const [forked, spawned] = ['forked', 'spawned'] as const;

/**
 * The inputs of all measurements of the first-second benchmark, such as the service and the same bot started without the service.
 */
export type VoiceBench = Pick<BenchOptions, 'log'> & {
  readonly service: Service;
  /** Number of measurements per figure. */
  readonly runs: number;
  readonly byHand: BotByHand;
  readonly byHandOptions: BotByHandOptions;
  readonly webCaller: WebCaller;
  /** Adds a figure to the results and prints it. */
  readonly report: (figure: Figure) => void;
};
