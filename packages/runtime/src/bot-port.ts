/** The port on which the bot of a container listens, as on Pipecat Cloud. */
export const botPort = 8080;
