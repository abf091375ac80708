import type { CatalogueService } from '../catalogue/services.ts';
import type { Plan } from '../configuration/plan.ts';
import {
  callExpression,
  collectImports,
  constructorExpression,
  formatExpression,
  type PythonExpression,
  pythonExpression,
} from '../python/expression.ts';
import { createCode, joinCode, type PythonCode } from './code.ts';

/** The variable name of each kind of service in the bot. */
export const serviceVariables = { stt: 'stt', llm: 'llm', tts: 'tts', realtime: 'llm', video: 'avatar' } as const;

/** Generates one statement per service, in the order of the pipeline. */
export function generateServices(plan: Plan): PythonCode {
  const statements = plan.services.map((entry): PythonCode => {
    const expression = constructorOf(entry);
    return {
      lines: formatExpression(expression, 4, `${serviceVariables[entry.service.kind]} = `),
      imports: collectImports(expression),
    };
  });
  return joinCode(
    [createCode(['    # The services. Keys and settings come from the environment: see .env.example.']), ...statements],
    0,
  );
}

function constructorOf({ service }: CatalogueService): PythonExpression {
  const { module, className, session } = service;
  return constructorExpression(
    { module, name: className },
    {
      ...service.arguments,
      ...(session === undefined ? {} : { [session]: pythonExpression('session') }),
      ...settingsOf(service),
    },
  );
}

/**
 * Creates the argument `settings`, or none if the service has no settings. The settings of a language model or realtime service
 * include the system instruction.
 */
function settingsOf({
  className,
  kind,
  settings,
}: CatalogueService['service']): Readonly<Record<string, PythonExpression>> {
  if (settings === null) return {};
  const isModel = kind === 'llm' || kind === 'realtime';
  const instruction = isModel ? { system_instruction: pythonExpression('SYSTEM_INSTRUCTION') } : {};
  return { settings: callExpression(`${className}.Settings`, { ...settings, ...instruction }) };
}
