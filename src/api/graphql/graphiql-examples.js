// What GraphiQL shows first: three operations that any key may run as they stand, on an account that has nothing yet too.
// They are one document: headers belong to a tab of GraphiQL, so in three tabs the key would have to be put three times.

/** @type {string} */
export const EXAMPLES = `# The management API of your tunnel gateway.
#
# 1. Put an API key in place of <API key> under "Headers" below. It stays in this browser tab, and goes with it.
# 2. Press Ctrl-Enter with the cursor in one of the operations, or the button and choose one.
# 3. Ctrl-Space shows what there is; the book on the left explains every type and field.

# A query: who you are, and what you have.
query Overview {
  viewer {
    isAdmin
    user {
      id
    }
  }
  credentials(first: 10) {
    totalCount
    nodes {
      id
      description
      acl
    }
  }
  endpoints(first: 10) {
    totalCount
    nodes {
      id
      publicUrl
      createdAt
    }
  }
}

# A mutation: makes a credential for an agent out of what is under "Variables". Its token is shown once.
mutation MakeCredential($input: CreateCredentialInput!) {
  createCredential(input: $input) {
    credential {
      id
    }
    token
  }
}

# A subscription: open this page in a second tab, run it there, and run the mutation here. It ends when you stop it.
subscription WatchCredentials {
  credentialChanged {
    action
    objectId
    credential {
      description
    }
  }
}
`;

/** The variables of the mutation. */
export const VARIABLES = { input: { description: 'made in GraphiQL', acl: ['bind:*.example.com'] } };
