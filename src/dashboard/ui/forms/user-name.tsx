/** The user name in a form that sets a password, which nobody sees: password managers store both. */
export function UserName({ value }: { value: string }) {
  return (
    <input
      class="visually-hidden"
      type="text"
      autoComplete="username"
      readOnly
      tabIndex={-1}
      aria-hidden="true"
      value={value}
    />
  );
}
