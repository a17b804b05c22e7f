// Policies with a password, as they are sent and as they are shown.

/** A rule that lets in `office`, with a comment and what else people write. */
export const rules = (password: string, realm = 'printers') => `# who may print
on_http_request:
  - name: people # of the office
    actions:
      - type: basic-auth
        config:
          realm: ${realm}
          credentials:
            - night:battery staple # at night
            - 'office:${password}'
`;

/** What is shown of it. */
export const shownRules = (realm = 'printers') =>
  rules('', realm).replace('night:battery staple', '"night:<secret>"').replace("'office:'", '"office:<secret>"');

export const as = (user: string, password: string) => ({
  headers: { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` },
});
