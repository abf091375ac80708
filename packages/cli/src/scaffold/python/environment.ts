import {
  createPythonExpression,
  type EnvironmentVariable,
  type PythonExpression,
  type PythonImport,
} from './expression.ts';

const os: PythonImport = { module: 'os' };
const notGiven: PythonImport = { module: 'pipecat.utils.types', name: 'NOT_GIVEN' };

export function requiredVariable(name: string, about?: string): PythonExpression {
  return createPythonExpression(`os.environ["${name}"]`, [os], [describeVariable(name, true, about)]);
}

/**
 * Creates an expression that reads an environment variable, and is None if the variable is absent or empty. Use it for
 * arguments whose default in Pipecat is None.
 */
export function optionalVariable(name: string, about?: string): PythonExpression {
  return createPythonExpression(`os.getenv("${name}") or None`, [os], [describeVariable(name, false, about)]);
}

/**
 * Creates a setting that is read from an environment variable. If the variable is absent or empty, Pipecat's default applies.
 */
export function settingFromVariable(name: string, about?: string): PythonExpression {
  return createPythonExpression(
    `os.getenv("${name}") or NOT_GIVEN`,
    [os, notGiven],
    [describeVariable(name, false, about)],
  );
}

export function integerSettingFromVariable(name: string, about?: string): PythonExpression {
  const text = `int(os.environ["${name}"]) if os.getenv("${name}") else NOT_GIVEN`;
  return createPythonExpression(text, [os, notGiven], [describeVariable(name, false, about)]);
}

/** A setting that the bot passes only if the variable is set. `value` is the expression that reads the variable. */
export function optionalSettingFromVariable(name: string, value: PythonExpression, about: string): PythonExpression {
  return {
    kind: 'choice',
    condition: `os.getenv("${name}")`,
    value,
    otherwise: 'NOT_GIVEN',
    imports: [os, notGiven],
    variables: [describeVariable(name, false, about)],
  };
}

/**
 * Creates an expression that reads an environment variable, and is `value` if the variable is absent or empty. Use it for
 * arguments for which Pipecat has no suitable default.
 */
export function variableWithDefault(name: string, value: string): PythonExpression {
  return createPythonExpression(
    `os.getenv("${name}") or "${value}"`,
    [os],
    [{ ...describeVariable(name, false), fallback: value }],
  );
}

export function describeVariable(name: string, isRequired: boolean, about?: string): EnvironmentVariable {
  return { name, required: isRequired, ...(about === undefined ? {} : { about }) };
}
