import { type Expression, type Import, python, type Variable } from './expression.ts';

const os: Import = { module: 'os' };
const notGiven: Import = { module: 'pipecat.utils.types', name: 'NOT_GIVEN' };

/** A variable that the bot needs. */
export function required(name: string, about?: string): Expression {
  return python(`os.environ["${name}"]`, [os], [variable(name, true, about)]);
}

/** A variable that is None if absent or empty, for arguments with None as their default. */
export function optional(name: string, about?: string): Expression {
  return python(`os.getenv("${name}") or None`, [os], [variable(name, false, about)]);
}

/** A key of a service's Settings. If the variable is absent or empty, the library's default applies, which changes over time. */
export function setting(name: string, about?: string): Expression {
  return python(`os.getenv("${name}") or NOT_GIVEN`, [os, notGiven], [variable(name, false, about)]);
}

/** An integer key of a service's Settings. */
export function wholeNumberSetting(name: string, about?: string): Expression {
  const text = `int(os.environ["${name}"]) if os.getenv("${name}") else NOT_GIVEN`;
  return python(text, [os, notGiven], [variable(name, false, about)]);
}

/** A key of a service's Settings that is given only if the variable is set. `value` reads the variable. */
export function settingWith(name: string, value: Expression, about: string): Expression {
  return {
    kind: 'choice',
    condition: `os.getenv("${name}")`,
    value,
    otherwise: 'NOT_GIVEN',
    imports: [os, notGiven],
    variables: [variable(name, false, about)],
  };
}

/** A variable with a default in the generated code, for arguments without a default in the library. */
export function fallback(name: string, value: string): Expression {
  return python(`os.getenv("${name}") or "${value}"`, [os], [{ ...variable(name, false), fallback: value }]);
}

export function variable(name: string, isRequired: boolean, about?: string): Variable {
  return { name, required: isRequired, ...(about === undefined ? {} : { about }) };
}
