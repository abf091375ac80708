import type { CatalogueService } from '../catalogue/services.ts';
import type { Plan } from '../configuration/plan.ts';
import { call, construct, type Expression, importsOf, layOut, python } from '../python/expression.ts';
import { type Code, code, join } from './code.ts';

/** The variable of each kind of service in the bot. */
export const variableNames = { stt: 'stt', llm: 'llm', tts: 'tts', realtime: 'llm', video: 'avatar' } as const;

/** One statement per service, in the order of the pipeline. */
export function services(plan: Plan): Code {
  const statements = plan.services.map((entry): Code => {
    const expression = constructorOf(entry);
    return {
      lines: layOut(expression, 4, `${variableNames[entry.service.kind]} = `),
      imports: importsOf(expression),
    };
  });
  return join(
    [code(['    # The services. Keys and settings come from the environment: see .env.example.']), ...statements],
    0,
  );
}

function constructorOf({ service }: CatalogueService): Expression {
  const { module, className, session } = service;
  return construct(
    { module, name: className },
    {
      ...service.arguments,
      ...(session === undefined ? {} : { [session]: python('session') }),
      ...settingsOf(service),
    },
  );
}

/** The system instruction goes to the language model or realtime service. */
function settingsOf({ className, kind, settings }: CatalogueService['service']): Readonly<Record<string, Expression>> {
  if (settings === null) return {};
  const isModel = kind === 'llm' || kind === 'realtime';
  const instruction = isModel ? { system_instruction: python('SYSTEM_INSTRUCTION') } : {};
  return { settings: call(`${className}.Settings`, { ...settings, ...instruction }) };
}
