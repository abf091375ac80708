/** An import of `name` from a module or, without `name`, of the module itself. */
export type PythonImport = { readonly module: string; readonly name?: string };

/** An environment variable that the generated code or its library reads. */
export type EnvironmentVariable = {
  readonly name: string;
  /**
   * Whether users must set the variable. In `.env.example`, a required variable is empty, and an optional one is commented out so
   * that its default applies.
   */
  readonly required: boolean;
  /** A description of the variable, if its name is not self-explanatory. */
  readonly about?: string;
  /** The value that the generated code uses if the variable is absent or empty. */
  readonly fallback?: string;
};

/** A Python expression with the imports and environment variables that it uses. */
export type PythonExpression = {
  readonly imports: readonly PythonImport[];
  readonly variables: readonly EnvironmentVariable[];
} & (
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'call'; readonly callee: string; readonly arguments: readonly PythonArgument[] }
  /**
   * The Python expression `value if condition else otherwise`. `imports` and `variables` list what `condition` and `otherwise`
   * need.
   */
  | {
      readonly kind: 'choice';
      readonly condition: string;
      readonly value: PythonExpression;
      readonly otherwise: string;
    }
);

/** An argument of a Python call. Without a name, it is positional. */
export type PythonArgument = { readonly name?: string; readonly value: PythonExpression };

/** Must equal the line length in the generated `pyproject.toml`. */
export const maxLineLength = 100;

export function createPythonExpression(
  text: string,
  imports: readonly PythonImport[] = [],
  variables: readonly EnvironmentVariable[] = [],
): PythonExpression {
  return { kind: 'text', text, imports, variables };
}

/** Creates the Python expression `Name(argument=value, ...)` and the import of `Name`. */
export function createConstructorExpression(
  imported: PythonImport & { readonly name: string },
  named: Readonly<Record<string, PythonExpression>>,
): PythonExpression {
  return createCallExpression(imported.name, named, [imported]);
}

/** Creates the Python expression `callee(argument=value, ...)`. `imports` are the imports that the callee needs. */
export function createCallExpression(
  callee: string,
  named: Readonly<Record<string, PythonExpression>>,
  imports: readonly PythonImport[] = [],
): PythonExpression {
  const args = Object.entries(named).map(([name, value]) => ({ name, value }));
  return { kind: 'call', callee, arguments: args, imports, variables: [] };
}

export function collectImports(expression: PythonExpression): readonly PythonImport[] {
  return [...expression.imports, ...partsOf(expression).flatMap(collectImports)];
}

export function collectEnvironmentVariables(expression: PythonExpression): readonly EnvironmentVariable[] {
  return [...expression.variables, ...partsOf(expression).flatMap(collectEnvironmentVariables)];
}

/** Formats an expression as `ruff format` does: on one line if it fits, otherwise with one argument per line. */
export function formatExpression(
  expression: PythonExpression,
  indent: number,
  before = '',
  after = '',
): readonly string[] {
  const space = ' '.repeat(indent);
  const line = `${space}${before}${flat(expression)}${after}`;
  if (line.length <= maxLineLength || expression.kind === 'text') return [line];
  if (expression.kind === 'choice') {
    const { value, condition, otherwise } = expression;
    return [...formatExpression(value, indent, before), `${space}if ${condition}`, `${space}else ${otherwise}${after}`];
  }
  if (expression.arguments.length === 0) return [line];
  return [
    `${space}${before}${expression.callee}(`,
    ...expression.arguments.flatMap(({ name, value }) =>
      formatExpression(value, indent + 4, name === undefined ? '' : `${name}=`, ','),
    ),
    `${space})${after}`,
  ];
}

function flat(expression: PythonExpression): string {
  if (expression.kind === 'text') return expression.text;
  if (expression.kind === 'choice') {
    return `${flat(expression.value)} if ${expression.condition} else ${expression.otherwise}`;
  }
  const args = expression.arguments.map(({ name, value }) =>
    name === undefined ? flat(value) : `${name}=${flat(value)}`,
  );
  return `${expression.callee}(${args.join(', ')})`;
}

function partsOf(expression: PythonExpression): readonly PythonExpression[] {
  if (expression.kind === 'text') return [];
  return expression.kind === 'choice' ? [expression.value] : expression.arguments.map(({ value }) => value);
}
