import { userAccountLimits } from '@bothost/contract';
import { TextField } from './text-field.tsx';

type NewPasswordFieldProps = {
  readonly label?: string;
  /** The path of the password in the request. */
  readonly name: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
};

export function NewPasswordField({ label = 'Password', name, value, onValue }: NewPasswordFieldProps) {
  return (
    <TextField
      label={label}
      name={name}
      type="password"
      autoComplete="new-password"
      hint={`At least ${userAccountLimits.passwordLength.minimum} characters. A few random words are a good password.`}
      value={value}
      onValue={onValue}
      minLength={userAccountLimits.passwordLength.minimum}
      maxLength={userAccountLimits.passwordLength.maximum}
      required
    />
  );
}
