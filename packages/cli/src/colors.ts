import type pico from 'picocolors';

export type Colors = ReturnType<(typeof pico)['createColors']>;
