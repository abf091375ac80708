const standardInstructions = [
  /^FROM dailyco\/pipecat-base(:\S+)?$/i,
  /^ENV( UV_\w+[= ]\S+)+$/i,
  /^WORKDIR \S+$/i,
  /^COPY (?!.*--from)/i,
];
/** `uv sync` and `pip install` as the service runs them. Other packages and extras are missing without the Dockerfile. */
const standardCommand =
  /^(if \[.*\]|((then|else) )?(uv sync(?!.* --(extra|all-extras|group|all-groups)\b)( .*)?|(uv )?pip3? install( --[\w-]+)* -r requirements\.txt)|fi)$/;

/**
 * Returns whether a Dockerfile only copies files and installs the project's packages on Pipecat's base image, as the ones of
 * `botcli init` and of Pipecat do. The build of the service has the same effect.
 */
export function isStandardDockerfile(text: string): boolean {
  const instructions = text
    .split(/\r?\n/)
    .filter((line) => !/^\s*(#|$)/.test(line))
    .join('\n')
    .replace(/\\\n/g, ' ')
    .split('\n')
    .map((line) => line.trim().replace(/\s+/g, ' '));
  return instructions.every(
    (line) => standardInstructions.some((pattern) => pattern.test(line)) || isStandardRun(line),
  );
}

function isStandardRun(instruction: string): boolean {
  const [, commands] = /^RUN(?: --mount=\S+)* (.+)$/i.exec(instruction) ?? [];
  return commands?.split(/&&?|\|\|?|;/).every((command) => standardCommand.test(command.trim())) ?? false;
}
