import type { BenchOptions, Figure } from '../figure.ts';
import type { Service } from '../service.ts';
import type { BotByHand, BotByHandOptions } from './by-hand.ts';
import type { WebCaller } from './web-caller.ts';

/** Names of two agents with the same generated bot: one has forked instances, the other spawned ones. */
export const [forked, spawned] = ['forked', 'spawned'] as const;

/** The data that all measurements of the first-second benchmark share, such as the service and the same bot started by hand. */
export type VoiceBench = Pick<BenchOptions, 'log'> & {
  readonly service: Service;
  /** Number of measurements per figure. */
  readonly runs: number;
  readonly byHand: BotByHand;
  readonly byHandOptions: BotByHandOptions;
  readonly webCaller: WebCaller;
  /** Keeps and prints a figure as soon as it is measured. */
  readonly report: (figure: Figure) => void;
};
