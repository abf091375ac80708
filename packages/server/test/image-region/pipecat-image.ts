import { fileURLToPath } from 'node:url';
import { buildImage } from '../../../runtime/test/docker/engine.ts';

/** Name of the image that stands in for one with Pipecat Cloud's base image. It contains a WebRTC client, too. */
export const pipecatImage = 'bothost-test-pipecat:1';

export const buildPipecatImage = () =>
  buildImage(pipecatImage, fileURLToPath(new URL('pipecat-base', import.meta.url)));
